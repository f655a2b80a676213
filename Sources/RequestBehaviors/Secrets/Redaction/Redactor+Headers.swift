extension Redactor {
  /// Returns the fields with every value hidden that is not known to be harmless.
  ///
  /// - A field that is marked sensitive is hidden.
  /// - `Location`, `Content-Location`, `Referer`, `Origin` and the targets of `Link` are shown as redacted URLs.
  /// - `Set-Cookie` and `Set-Cookie2` show the cookie's name and attributes.
  /// - Others are shown if their name is in ``allowedHeaders``.
  ///
  /// - Parameter headers: The fields of a request or response.
  /// - Returns: The fields in the same order with the same names and marks.
  public func redact(_ headers: HeaderFields) -> HeaderFields {
    HeaderFields(
      headers.map { field in
        var shown = field
        shown.value = redactedValue(of: field)
        return shown
      })
  }

  /// Returns the value of one field in the form that may be shown.
  func redactedValue(of field: HeaderFields.Field) -> String { knownSecrets.hide(in: valueByName(of: field)) }

  /// Returns the value of one field as far as its name and mark allow.
  private func valueByName(of field: HeaderFields.Field) -> String {
    if field.isSensitive { return Redactor.placeholder }
    if Redactor.urlHeaders.contains(field.name) { return redact(urlReference: field.value) }
    if Redactor.cookieHeaders.contains(field.name) { return redactedCookie(field.value) }
    if HeaderFields.areEqual(field.name, "Link") { return redactedLinks(field.value) }
    return rules.headers.contains(field.name) ? field.value : Redactor.placeholder
  }

  private static let urlHeaders = FieldNames(
    ["Location", "Content-Location", "Referer", "Origin"], ignoringPunctuation: false)
  private static let cookieHeaders = FieldNames(["Set-Cookie", "Set-Cookie2"], ignoringPunctuation: false)
  static let cookieAttributes = FieldNames(
    ["Domain", "Expires", "HttpOnly", "Max-Age", "Partitioned", "Path", "Priority", "SameSite", "Secure"],
    ignoringPunctuation: false)

  /// Returns a cookie without its value, such as `sid=REDACTED; Path=/; HttpOnly` (RFC 6265 §4.1).
  private func redactedCookie(_ value: String) -> String {
    let parts = value.split(separator: ";", omittingEmptySubsequences: false)
    let shown = parts.enumerated().map { index, part in
      index == 0 ? hidingValue(of: part) : shownAttribute(part)
    }
    return shown.joined(separator: ";")
  }

  /// Returns an attribute of RFC 6265 unchanged, and of any other its name.
  ///
  /// Foundation joins several cookies by commas, so a value with a comma or `=` may hold the next cookie.
  private func shownAttribute(_ part: Substring) -> String {
    let pieces = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = pieces[0].drop { $0 == " " }
    guard pieces.count == 2 else {
      return Redactor.cookieAttributes.contains(name) ? String(part) : hidingValue(of: part)
    }
    let isDate = HeaderFields.areEqual(String(name), "Expires") && pieces[1].count <= 30
    let isPlain = !pieces[1].contains("=") && (isDate || !pieces[1].contains(","))
    return Redactor.cookieAttributes.contains(name) && isPlain ? String(part) : hidingValue(of: part)
  }

  private func hidingValue(of pair: Substring) -> String {
    guard let equals = pair.firstIndex(of: "=") else { return Redactor.placeholder }
    return pair[...equals] + Redactor.placeholder
  }

  /// Returns a `Link` with the targets between `<` and `>` as redacted URLs (RFC 8288 §3).
  private func redactedLinks(_ value: String) -> String {
    // By scalars: a character may be a mark after the bracket, too.
    var rest = value.unicodeScalars[...]
    guard rest.contains("<") else { return Redactor.placeholder }
    var shown = ""
    while let open = rest.firstIndex(of: "<") {
      let target = rest[rest.index(after: open)...]
      let close = target.firstIndex(of: ">") ?? target.endIndex
      shown += String(rest[...open]) + redact(urlReference: String(target[..<close]))
      rest = target[close...]
    }
    return shown + String(rest)
  }
}
