/// Decides which parts of a request or response may be shown, and hides the rest.
///
/// Logs, error descriptions, printed commands and recordings all use one, by default ``standard``. It shows the values
/// that are listed as harmless and hides all others:
///
/// - URLs lose user info and fragment; query values are hidden unless their name is in ``allowedQueryNames``.
/// - Header values are hidden unless their name is in ``allowedHeaders``; fields that are marked sensitive always are.
/// - In JSON and form bodies, fields in ``sensitiveFields`` and ``sensitivePointers`` are hidden; the rest is shown.
///
/// ```swift
/// var redactor = Redactor.standard
/// redactor.allowedHeaders.insert("X-Shop-Region")
/// redactor.sensitiveFields.insert("iban")
/// let url = URL(string: "https://me:pw@shop.example.com/?page=2&key=abc")!
/// print(redactor.redact(url))
/// // https://shop.example.com/?page=2&key=REDACTED
/// ```
///
/// The path of a URL is shown: keep secrets out of paths.
public struct Redactor: Sendable {
  /// The redactor with the default lists.
  public static let standard = Redactor()

  /// The text in place of a hidden value: `REDACTED`.
  public static let placeholder = "REDACTED"

  /// The names of the headers whose values are shown, compared without regard to case.
  ///
  /// By default these are the fields that HTTP itself defines for content, caching, conditions and connections, and
  /// common ones for request ids and rate limits. A field that is marked sensitive is hidden all the same.
  public var allowedHeaders: Set<String> {
    get { lists.allowedHeaders }
    set { lists.allowedHeaders = newValue }
  }

  /// The names of the query items whose values are shown, compared without regard to case.
  ///
  /// By default these are names of paging and sorting, such as `page` and `limit`. A name in ``sensitiveFields`` is
  /// hidden all the same.
  public var allowedQueryNames: Set<String> {
    get { lists.allowedQueryNames }
    set { lists.allowedQueryNames = newValue }
  }

  /// The names of the fields that are hidden in JSON, form and text bodies, and in free text.
  ///
  /// Only letters and digits count, without regard to case, and trailing words match: `api_key` hides `apiKey`,
  /// `API-Key` and `shop_api_key`; `password` hides `newPassword` and `user[password]`.
  public var sensitiveFields: Set<String> {
    get { lists.sensitiveFields }
    set { lists.sensitiveFields = newValue }
  }

  /// The places in JSON bodies that are hidden, as JSON pointers (RFC 6901) such as `/user/email`.
  ///
  /// The token `*` matches any member or element, as in `/items/*/serial`.
  public var sensitivePointers: Set<String> {
    get { lists.sensitivePointers }
    set { lists.sensitivePointers = newValue }
  }

  private(set) var rules: RedactionRules

  private var lists: RedactionRules.Lists {
    get { rules.lists }
    set { rules = RedactionRules(newValue, reusing: rules) }
  }

  /// The values that are hidden everywhere.
  private(set) var knownSecrets = KnownSecrets()

  /// Creates a redactor.
  ///
  /// - Parameters:
  ///   - allowedHeaders: The names of the headers whose values are shown.
  ///   - allowedQueryNames: The names of the query items whose values are shown.
  ///   - sensitiveFields: The names of the fields that are hidden in bodies and text.
  ///   - sensitivePointers: The places in JSON bodies that are hidden, as JSON pointers.
  public init(
    allowedHeaders: Set<String> = Redactor.defaultAllowedHeaders,
    allowedQueryNames: Set<String> = Redactor.defaultAllowedQueryNames,
    sensitiveFields: Set<String> = Redactor.defaultSensitiveFields,
    sensitivePointers: Set<String> = []
  ) {
    rules = RedactionRules(
      RedactionRules.Lists(
        allowedHeaders: allowedHeaders, allowedQueryNames: allowedQueryNames, sensitiveFields: sensitiveFields,
        sensitivePointers: sensitivePointers))
  }

  /// Whether a field of this name is hidden in bodies and text.
  public func isSensitive(field name: String) -> Bool { rules.isSensitive(field: name.utf8) }

  /// Returns a redactor that also hides these values everywhere: in URLs, fields, bodies and text.
  ///
  /// ```swift
  /// let redactor = Redactor.standard.hiding(["s3cr3t/key"])
  /// print(redactor.redact(text: "no such key: s3cr3t%2Fkey"))
  /// // no such key: REDACTED
  /// ```
  ///
  /// They are found unchanged, percent-encoded, with the escapes of JSON or XML, and within base64.
  ///
  /// - Parameter secrets: The values; those of less than four bytes are not searched for.
  /// - Returns: The redactor.
  public func hiding(_ secrets: [String]) -> Redactor {
    var redactor = self
    redactor.knownSecrets.insert(secrets)
    return redactor
  }
}
