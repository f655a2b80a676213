public import Foundation

extension Redactor {
  /// The most bytes of a body in memory that are searched for secrets of its call, or for a server's words.
  static let searchedBodyLimit = 65_536

  /// Returns a redactor that also hides the secrets of a call; see ``Call/addSecret(_:)``.
  ///
  /// - Parameter call: The call.
  /// - Returns: The redactor.
  public func hiding(secretsOf call: Call) -> Redactor { hiding(call.secrets.values(for: self)) }

  /// Returns a redactor that also hides the secrets of a request and of its call.
  ///
  /// These are the values of hidden header fields, with and without their authentication scheme. They include the
  /// values of sensitive names in the URL's query and in a form or JSON body of up to 64 KiB, those at
  /// ``sensitivePointers`` of JSON, and the values that were passed to ``Call/addSecret(_:)``.
  ///
  /// - Parameter request: The request.
  /// - Returns: The redactor.
  public func hiding(secretsOf request: NetworkRequest) -> Redactor {
    var values = request.call.secrets.values(for: self, and: request.headers)
    values += secrets(inQueryOf: request.url)
    values += secrets(inBodyOf: request)
    return hiding(values)
  }

  /// Returns a redactor that also hides the secrets of a response's request, of its fields and interim responses, and
  /// of a form or JSON body of up to 64 KiB.
  package func hiding(secretsOf response: NetworkResponse) -> Redactor {
    let fields = [response.headers] + response.interimResponses.map(\.headers)
    var values = fields.flatMap(secrets(in:))
    if case .data(let data) = response.body, data.count <= Redactor.searchedBodyLimit {
      values += secrets(inBody: data, contentType: response.headers[.contentType])
    }
    return hiding(secretsOf: response.request).hiding(values)
  }

  /// Returns the values in a request's or response's fields that must not appear in any text about it.
  ///
  /// - Returns: The values of fields that are marked sensitive, mean a credential or are not allowed, and the parts of
  ///   these values, such as the password of `Basic`.
  public func secrets(in headers: HeaderFields) -> [String] {
    var secrets: [String] = []
    addSecrets(in: headers, to: &secrets)
    return secrets
  }

  /// Adds the values that ``secrets(in:)-(HeaderFields)`` returns to a list.
  func addSecrets(in headers: HeaderFields, to secrets: inout [String]) {
    for field in headers where field.isSensitive || !rules.headers.contains(field.name) {
      let isCredential = field.isSensitive || Redactor.isCredentialField(field.name)
      // A value that is hidden only because its name is not allowed may be a common word.
      let minimumLength = isCredential ? 0 : 8
      guard field.value.utf8.count >= minimumLength else { continue }
      guard isCredential || redactedValue(of: field) == Redactor.placeholder else { continue }
      let value = CredentialValue(field.value, CredentialValue.Cookie(field.name))
      for secret in value.secrets where secret.utf8.count >= minimumLength { secrets.append(secret) }
    }
  }

  /// Returns the values of sensitive names in the query of a URL, which must not appear in any text about it.
  public func secrets(inQueryOf url: URL) -> [String] {
    // Finding the query in the text costs less than asking the URL for it.
    var text = url.absoluteString
    return text.withUTF8 { bytes in
      let raw = UnsafeRawBufferPointer(bytes)
      let end = raw.index(of: UInt8(ascii: "#"), from: 0) ?? bytes.count
      guard let mark = raw.index(of: UInt8(ascii: "?"), from: 0), mark < end else { return [] }
      let query = UnsafeBufferPointer(rebasing: bytes[(mark + 1)..<end])
      return secretValues(inPairs: query) { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }
    }
  }

  /// Returns the values of sensitive names in a form or JSON body, and those at ``sensitivePointers`` of JSON.
  ///
  /// They must not appear in any text about it.
  ///
  /// - Parameters:
  ///   - body: The body, or its beginning; JSON may be cut off.
  ///   - contentType: The value of its `Content-Type`; a body of an unknown type is JSON if it looks so.
  /// - Returns: The values, not redacted.
  public func secrets(inBody body: Data, contentType: String?) -> [String] {
    guard !body.isEmpty else { return [] }
    if let type = contentType.flatMap({ MediaType($0) }), type.isForm {
      return secretValues(inPairs: String(decoding: body, as: UTF8.self)) { $0 == UInt8(ascii: "&") }
    }
    return BodyKind(contentType, readingIfUnknown: body) == .json ? secrets(inJSON: body) : []
  }

  /// Returns the secrets of a form or JSON body, which a server may repeat in the text of an error.
  func secrets(inBodyOf request: NetworkRequest) -> [String] {
    guard let body = request.body, let data = body.data, data.count <= Redactor.searchedBodyLimit else { return [] }
    return secrets(inBody: data, contentType: request.headers[.contentType] ?? body.contentType)
  }

  /// Returns the values in JSON, which may be cut off, that are hidden where the JSON is shown.
  func secrets(inJSON data: Data) -> [String] {
    let bytes = Array(data)
    return bytes.withUnsafeBufferPointer { buffer in
      // Most bodies hide nothing, and a pass that keeps no values costs less.
      var scanner = JSONRedaction(bytes: buffer, rules: rules)
      guard scanner.run() != bytes else { return [] }
      let placeholders = RedactionPlaceholders(isNumbered: true)
      var keeper = JSONRedaction(bytes: buffer, rules: rules, placeholders: placeholders)
      _ = keeper.run()
      return placeholders.values
    }
  }

  private func secretValues(inPairs text: String, isSeparator: (UInt8) -> Bool) -> [String] {
    var text = text
    return text.withUTF8 { secretValues(inPairs: $0, isSeparator: isSeparator) }
  }

  private func secretValues(
    inPairs bytes: UnsafeBufferPointer<UInt8>, isSeparator: (UInt8) -> Bool
  ) -> [String] {
    var values: [String] = []
    var start = 0
    // All pairs are read at the first code or state, and not for each.
    lazy var isSignIn = SignInNames.isSignIn(pairs: bytes)
    while start < bytes.count {
      let end = bytes[start...].firstIndex(where: isSeparator) ?? bytes.count
      if let value = secretValue(inPair: bytes[start..<end], isSignIn: { isSignIn }) { values.append(value) }
      start = end + 1
    }
    return values
  }

  /// Returns the value of a pair whose name is sensitive.
  private func secretValue(
    inPair pair: Slice<UnsafeBufferPointer<UInt8>>, isSignIn: () -> Bool
  ) -> String? {
    guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    let written = pair[..<equals]
    let isEscaped = written.contains(UInt8(ascii: "%"))
    // Most names are neither escaped nor sensitive, and need no copy.
    if !isEscaped, !rules.isSensitive(field: written), SignInNames.ambiguous(written) == nil { return nil }
    let name = Redactor.unescaped(written)
    let value = Redactor.unescaped(pair[(equals + 1)...], plusIsSpace: true)
    return isSensitive(field: name) || isOfSignIn(name, value, isSignIn: isSignIn) ? value : nil
  }

  /// Returns the text without its percent-encoding.
  private static func unescaped(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, plusIsSpace: Bool = false) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    let hasPlus = plusIsSpace && bytes.contains(UInt8(ascii: "+"))
    guard hasPlus || bytes.contains(UInt8(ascii: "%")) else { return text }
    return PercentEncoding.lenientlyDecoded(hasPlus ? text.replacing("+", with: "%20") : text)
  }

  /// Whether a value of the name `code` or `state` belongs to a sign-in.
  private func isOfSignIn(_ name: String, _ value: String, isSignIn: () -> Bool) -> Bool {
    guard let kind = SignInNames.ambiguous(name.utf8) else { return false }
    return (kind == .code && SignInNames.looksSecret(value.utf8)) || isSignIn()
  }
}
