import Foundation
import RequestBehaviors

/// Hides what means a credential, and keeps the rest, so that the file still plays.
struct CassetteRedaction: Sendable {
  private let redactor: Redactor
  private let placeholders: RedactionPlaceholders

  init(_ redactor: Redactor, numbered: Bool, after last: Int = 0) {
    self.redactor = redactor
    placeholders = RedactionPlaceholders(isNumbered: numbered, after: last)
  }

  private func isSecret(query name: String) -> Bool {
    redactor.isSensitive(field: name) || ["key", "code", "state"].contains(name.lowercased())
  }

  private func hidden(_ text: String) -> String { redactor.hidingKnownSecrets(in: text, placeholders) }

  // MARK: URLs

  /// Returns a URL without user info and fragment, and with the values of credentials hidden.
  func url(_ text: String) -> String {
    guard var parts = URLComponents(string: text) else { return redactor.redact(text: text) }
    parts.user = nil
    parts.password = nil
    parts.fragment = nil
    if let items = parts.percentEncodedQueryItems {
      parts.percentEncodedQueryItems = items.map { item in
        guard let value = item.value,
          isSecret(query: item.name.removingPercentEncoding ?? item.name)
        else {
          return item
        }
        let placeholder = placeholders.placeholder(for: value.removingPercentEncoding ?? value)
        return URLQueryItem(name: item.name, value: placeholder)
      }
    }
    return hidden(parts.string ?? text)
  }

  // MARK: Fields

  /// Returns the fields of a request, in which values that are not on the redactor's list are hidden.
  ///
  /// They are sorted by name, because some transports lose their order.
  func requestFields(_ headers: HeaderFields) -> HeaderFields {
    sorted(headers) { field in
      let shown = redactor.redact(HeaderFields([field])).first?.value ?? Redactor.placeholder
      guard shown == Redactor.placeholder else { return shown }
      return RedactionPlaceholders.isPlaceholder(field.value) ? field.value : credential(field.value)
    }
  }

  /// Returns the fields of a response: only those that mean a credential are hidden.
  func responseFields(_ headers: HeaderFields) -> HeaderFields {
    sorted(headers) { field in
      switch field.name.lowercased() {
      case "set-cookie", "set-cookie2":
        return redactor.redact(HeaderFields([field])).first?.value ?? ""
      case "location", "content-location": return url(field.value)
      case "link": return links(field.value)
      case _ where field.isSensitive || field.isNamedLikeCredential: return credential(field.value)
      default: return hidden(field.value)
      }
    }
  }

  private func sorted(_ headers: HeaderFields, _ value: (HeaderFields.Field) -> String)
    -> HeaderFields
  {
    let fields = headers.enumerated().sorted {
      ($0.element.name.lowercased(), $0.offset) < ($1.element.name.lowercased(), $1.offset)
    }
    return HeaderFields(fields.map { HeaderFields.Field($0.element.name, value($0.element)) })
  }

  /// Returns a credential without its secret, and with its scheme.
  private func credential(_ value: String) -> String {
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, ["bearer", "basic", "token", "dpop"].contains(parts[0].lowercased())
    else {
      return placeholders.placeholder(for: value)
    }
    return "\(parts[0]) \(placeholders.placeholder(for: String(parts[1])))"
  }

  private func links(_ value: String) -> String {
    var shown = ""
    var rest = value[...]
    while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
      shown += rest[...open] + url(String(rest[rest.index(after: open)..<close]))
      rest = rest[close...]
    }
    return shown + hidden(String(rest))
  }

  // MARK: Bodies

  /// Returns a body without its secrets; `nil` if it is neither JSON, a form nor text.
  func body(_ data: Data, _ contentType: String?) -> Data? {
    redactor.redactKeepingShape(body: data, contentType: contentType, placeholders)
  }

  // MARK: Comparing

  /// Returns a request as it is compared.
  func sketch(
    method: String, url original: String, fields: HeaderFields, body: Data?, contentType: String?
  ) -> RequestSketch {
    let parts = URLComponents(string: url(original))
    let scheme = parts?.scheme?.lowercased() ?? ""
    let port = parts?.port.map { [80, 443].contains($0) ? "" : ":\($0)" } ?? ""
    let items = (parts?.queryItems ?? []).map {
      RequestSketch.Pair(name: $0.name, value: $0.value ?? "")
    }
    return RequestSketch(
      method: method, origin: "\(scheme)://\(parts?.host?.lowercased() ?? "")\(port)",
      path: (parts?.path).flatMap { $0.isEmpty ? "/" : $0 } ?? original,
      query: items.filter { !$0.name.hasPrefix("oauth_") }.sorted(),
      fields: requestFields(fields).map { RequestSketch.Pair(name: $0.name, value: $0.value) },
      body: sketch(body, contentType),
      shown: RequestSketch.Shown(
        url: url(original), body: body.flatMap { self.body($0, contentType) }, contentType: contentType))
  }

  private func sketch(_ data: Data?, _ contentType: String?) -> RequestSketch.BodySketch {
    guard let data, !data.isEmpty else { return .none }
    let type = (contentType ?? "").lowercased()
    if type.hasPrefix("multipart/"), let boundary = CassetteRedaction.boundary(contentType ?? "") {
      let parts = String(decoding: data, as: UTF8.self).components(separatedBy: "--" + boundary)
      return .parts(parts.map(hash))
    }
    guard let shown = body(data, contentType) else {
      return .bytes(Digest.sha256(of: data).hexadecimal)
    }
    if let json = try? OrderedJSON(parsing: shown) { return .json(json) }
    let text = String(decoding: shown, as: UTF8.self)
    guard type.hasPrefix("application/x-www-form-urlencoded") else { return .text(text) }
    let fields = text.split(separator: "&").map { pair -> RequestSketch.Pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        $0.replacing("+", with: " ").removingPercentEncoding ?? String($0)
      }
      return RequestSketch.Pair(name: parts[0], value: parts.count > 1 ? parts[1] : "")
    }
    return .form(fields.filter { !$0.name.hasPrefix("oauth_") }.sorted())
  }

  /// Returns the hash of a part; none of a secret one, because a short secret could be guessed from it.
  private func hash(of part: String) -> String {
    if let start = part.range(of: "name=\"") {
      let name = part[start.upperBound...].prefix { $0 != "\"" }
      if redactor.isSensitive(field: String(name)) { return Redactor.placeholder }
    }
    return Digest.sha256(of: hidden(part)).hexadecimal
  }

  private static func boundary(_ contentType: String) -> String? {
    guard let start = contentType.range(of: "boundary=", options: .caseInsensitive) else {
      return nil
    }
    let value = contentType[start.upperBound...].prefix { $0 != ";" }
    return value.trimmingCharacters(in: CharacterSet(charactersIn: "\" "))
  }
}
