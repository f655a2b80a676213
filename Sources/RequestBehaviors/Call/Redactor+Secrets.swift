public import Foundation

extension Redactor {
  /// Returns a redactor that also hides the secrets of a call; see ``Call/addSecret(_:)``.
  ///
  /// - Parameter call: The call.
  /// - Returns: The redactor.
  public func hiding(secretsOf call: Call) -> Redactor { hiding(call.secrets.values(for: self)) }

  /// Returns a redactor that also hides the secrets of a request and of its call.
  ///
  /// These are the values of hidden header fields, with and without their authentication scheme. They include the
  /// values of sensitive names in the URL's query and in a form or JSON body of up to 64 KiB, and the values that were
  /// passed to ``Call/addSecret(_:)``.
  ///
  /// - Parameter request: The request.
  /// - Returns: The redactor.
  public func hiding(secretsOf request: NetworkRequest) -> Redactor {
    hiding(
      request.call.secrets.values(for: self, and: request.headers) + secrets(inQueryOf: request.url)
        + secrets(inBodyOf: request))
  }

  /// Returns a redactor that also hides the secrets of a response's request and of its own fields.
  func hiding(secretsOf response: NetworkResponse) -> Redactor {
    hiding(secretsOf: response.request).hiding(secrets(in: response.headers))
  }

  /// Returns the values in a request's or response's fields that must not appear in any text about it.
  ///
  /// - Returns: The values of fields that are marked sensitive, mean a credential or are not allowed, and the parts of
  ///   these values, such as the password of `Basic`.
  public func secrets(in headers: HeaderFields) -> [String] {
    var secrets: [String] = []
    for field in headers where field.isSensitive || !rules.headers.contains(field.name) {
      let isCredential = field.isSensitive || Redactor.isCredentialField(field.name)
      // A value that is hidden only because its name is not allowed may be a common word.
      let minimumLength = isCredential ? 0 : 8
      guard field.value.utf8.count >= minimumLength else { continue }
      guard isCredential || redactedValue(of: field) == Redactor.placeholder else { continue }
      let value = CredentialValue(field.value, CredentialValue.Cookie(field.name))
      secrets += value.secrets.filter { $0.utf8.count >= minimumLength }
    }
    return secrets
  }

  /// Returns the values of sensitive names in the query of a URL, which must not appear in any text about it.
  public func secrets(inQueryOf url: URL) -> [String] {
    guard let query = url.query(percentEncoded: true) else { return [] }
    return secretValues(inPairs: query[...], separatedBy: "&;")
  }

  /// Returns the values of sensitive names in a form or JSON body, which must not appear in any text about it.
  ///
  /// - Parameters:
  ///   - body: The body, or its beginning; JSON may be cut off.
  ///   - contentType: The value of its `Content-Type`; a body of an unknown type is JSON if it looks so.
  /// - Returns: The values, not redacted.
  public func secrets(inBody body: Data, contentType: String?) -> [String] {
    guard !body.isEmpty else { return [] }
    if let type = contentType.flatMap({ MediaType($0) }), type.isForm { return secrets(in: body, of: type) }
    return BodyKind(contentType, readingIfUnknown: body) == .json ? secrets(inJSON: body) : []
  }

  /// Returns the secrets of a form or JSON body, which a server may repeat in the text of an error.
  private func secrets(inBodyOf request: NetworkRequest) -> [String] {
    guard let body = request.body, let data = body.data, data.count <= 65_536,
      let type = (request.headers[.contentType] ?? body.contentType).flatMap({ MediaType($0) })
    else { return [] }
    return secrets(in: data, of: type)
  }

  /// Returns the secrets of a form or JSON body.
  func secrets(in data: Data, of type: MediaType) -> [String] {
    if type.isForm { return secretValues(inPairs: String(decoding: data, as: UTF8.self)[...], separatedBy: "&") }
    return type.isJSON ? secrets(inJSON: data) : []
  }

  /// Returns the secrets of JSON, which may be cut off; see ``Redactor/isSensitive(field:)``.
  func secrets(inJSON data: Data) -> [String] {
    // Searching for sensitive names costs far less than parsing, and most bodies have no such name.
    guard hasSensitiveNames(data) else { return [] }
    if let value = try? JSONSerialization.jsonObject(with: data) { return secretValues(inJSON: value, isSecret: false) }
    return Array(data).withUnsafeBufferPointer { buffer in
      let placeholders = RedactionPlaceholders(isNumbered: true)
      var scanner = JSONRedaction(bytes: buffer, rules: rules, placeholders: placeholders)
      _ = scanner.run()
      return placeholders.values
    }
  }

  private func hasSensitiveNames(_ json: Data) -> Bool {
    let bytes = Array(json)
    return bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONRedaction(bytes: buffer, rules: rules)
      return scanner.run() != bytes
    }
  }

  private func secretValues(inJSON value: Any, isSecret: Bool) -> [String] {
    switch value {
    case let text as String: isSecret ? [text] : []
    case let number as NSNumber: isSecret ? ["\(number)"] : []
    case let list as [Any]: list.flatMap { secretValues(inJSON: $0, isSecret: isSecret) }
    case let object as [String: Any]:
      object.flatMap { name, value in
        let isNamed =
          isSensitive(field: name)
          || isOfSignIn(name, value as? String ?? "") { SignInNames.areOfSignIn(object.keys.map(\.utf8)) }
        return secretValues(inJSON: value, isSecret: isSecret || isNamed)
      }
    default: []
    }
  }

  private func secretValues(inPairs text: Substring, separatedBy separators: StaticString) -> [String] {
    let separators = UnsafeBufferPointer(start: separators.utf8Start, count: separators.utf8CodeUnitCount)
    var values: [String] = []
    var rest = text.utf8[...]
    while !rest.isEmpty {
      let pair = Substring(rest.prefix { !separators.contains($0) })
      rest = rest[pair.endIndex...].dropFirst()
      if let value = secretValue(inPair: pair, of: text) { values.append(value) }
    }
    return values
  }

  /// Returns the value of a pair whose name is sensitive.
  private func secretValue(inPair pair: Substring, of text: Substring) -> String? {
    guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    let name = Redactor.unescaped(pair[..<equals]) ?? String(pair[..<equals])
    let written = pair[pair.utf8.index(after: equals)...]
    let kind = SignInNames.ambiguous(name.utf8)
    guard isSensitive(field: name) || kind != nil else { return nil }
    let hasPlus = written.utf8.contains(UInt8(ascii: "+"))
    let value = hasPlus ? written.replacing("+", with: "%20").removingPercentEncoding : Redactor.unescaped(written)
    let isSecret =
      isSensitive(field: name)
      || isOfSignIn(name, value ?? "") { SignInNames.isSignIn(pairs: text.utf8) }
    return isSecret ? value : nil
  }

  /// Returns the text without its percent-encoding, which most texts do not have; `nil` if that is malformed.
  private static func unescaped(_ text: Substring) -> String? {
    text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : String(text)
  }

  /// Whether a value of the name `code` or `state` belongs to a sign-in.
  private func isOfSignIn(_ name: String, _ value: String, isSignIn: () -> Bool) -> Bool {
    guard let kind = SignInNames.ambiguous(name.utf8) else { return false }
    return (kind == .code && SignInNames.looksSecret(value.utf8)) || isSignIn()
  }
}

/// The secrets in the value of a header field.
private struct CredentialValue {
  /// The value without its authentication scheme, the password of basic authentication, and the values of cookies and
  /// of parameters with sensitive names.
  let secrets: [String]

  /// Whether a value has cookies.
  enum Cookie {
    case none
    /// Each pair is a cookie.
    case sent
    /// The pairs after the first one are attributes, such as `Domain=example.com`, which are no secrets.
    case set

    init(_ name: String) {
      let name = name.lowercased()
      self = name.hasPrefix("set-cookie") ? .set : name.hasSuffix("cookie") ? .sent : .none
    }
  }

  init(_ value: String, _ cookie: Cookie) {
    let isCookie = cookie != .none
    guard value.utf8.contains(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "=") }) else {
      secrets = [value]
      return
    }
    var secrets: [String] = []
    var parameters = value[...]
    // Bytes instead of characters: this runs for every call that is logged.
    let words = value.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1).map { Substring($0) }
    if words.count == 2, !isCookie {
      parameters = words[1]
      secrets.append(String(words[1]))
      if HeaderFields.areEqual(String(words[0]), "Basic") { secrets += CredentialValue.basic(words[1]) }
    }
    // The name of a scheme is no secret, but another word before a space may be.
    if secrets.isEmpty || !Redactor.schemes.contains(words[0]) { secrets.append(value) }
    guard parameters.utf8.contains(UInt8(ascii: "=")) else {
      self.secrets = secrets
      return
    }
    let parts = parameters.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
    for parameter in parts.map({ Substring($0) }) {
      guard let equals = parameter.utf8.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let name = parameter[..<equals].drop { $0 == " " }
      let text = parameter[parameter.index(after: equals)...].filter { $0 != "\"" }
      if cookie == .set, Redactor.cookieAttributes.contains(name) { continue }
      let isSecret = Redactor.isCredentialField(String(name)) || (isCookie && text.utf8.count >= 8)
      if isSecret { secrets.append(text.removingPercentEncoding ?? text) }
    }
    self.secrets = secrets
  }

  /// Returns `user:password` and the password (RFC 7617 §2).
  private static func basic(_ credentials: Substring) -> [String] {
    guard let data = Data(base64Encoded: String(credentials)) else { return [] }
    let pair = String(decoding: data, as: UTF8.self)
    return [pair] + (pair.firstIndex(of: ":").map { [String(pair[pair.index(after: $0)...])] } ?? [])
  }
}
