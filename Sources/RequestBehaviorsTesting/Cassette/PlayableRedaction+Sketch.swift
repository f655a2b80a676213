import Foundation
import RequestBehaviors

extension PlayableRedaction {
  /// Returns a request as it is compared.
  func sketch(
    method: String, url original: String, fields: HeaderFields, body: Data?, contentType: String?
  ) -> RequestSketch {
    let parts = URLComponents(string: url(original))
    let scheme = parts?.scheme?.lowercased() ?? ""
    let usual = ["http": 80, "https": 443][scheme]
    let port = parts?.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
    let items = (parts?.percentEncodedQueryItems ?? []).map {
      RequestSketch.Pair(name: Self.decoded($0.name), value: Self.decoded($0.value ?? "", keeping: "+"))
    }
    let text = body.flatMap { self.text(of: $0, contentType, fields) }
    return RequestSketch(
      method: method, origin: "\(scheme)://\(parts?.host?.lowercased() ?? "")\(port)",
      path: (parts?.percentEncodedPath).map(Self.decodedPath) ?? original,
      query: compared(items),
      fields: requestFields(fields).map { RequestSketch.Pair(name: $0.name, value: $0.value) },
      body: sketch(body, shown: text, contentType),
      shown: RequestSketch.Shown(url: url(original), body: text.map { Data($0.utf8) }, contentType: contentType))
  }

  /// Returns a path in one spelling: a slash within a segment is another one than that between two.
  private static func decodedPath(_ path: String) -> String {
    path.isEmpty ? "/" : path.components(separatedBy: "/").map { decoded($0, keeping: "/") }.joined(separator: "/")
  }

  /// Returns a text without its percent-encoding; bytes that are not UTF-8 keep theirs.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - character: A character that means something else where it is not encoded, and so keeps its encoding, as "%"
  ///     then does; by default all are decoded.
  /// - Returns: The text.
  private static func decoded(_ text: String, keeping character: Character? = nil) -> String {
    guard text.contains("%"), let plain = text.removingPercentEncoding else { return text }
    guard let character else { return plain }
    let code = character.asciiValue.map { "%" + String($0, radix: 16, uppercase: true) } ?? ""
    let kept = text.replacing("%25", with: "%2525").replacing(code, with: "%25" + code.dropFirst())
      .replacing(code.lowercased(), with: "%25" + code.dropFirst())
    return kept.removingPercentEncoding ?? text
  }

  /// Returns the pairs of a query or form that are compared: those that are the same in each run.
  ///
  /// Others are the parameters of OAuth 1.0a (RFC 5849 §3.1) and, in the request that begins a sign-in, the challenge
  /// and the nonce (RFC 7636 §4.3, OpenID Connect Core §3.1.2.1).
  private func compared(_ pairs: [RequestSketch.Pair]) -> [RequestSketch.Pair] {
    let isSignIn = pairs.contains { $0.name == "code_challenge" }
    return pairs.filter { pair in
      !pair.name.hasPrefix("oauth_") && !(isSignIn && ["code_challenge", "nonce"].contains(pair.name))
    }.sorted()
  }

  /// Returns the body of a request without its secrets; `nil` if it is neither JSON, a form nor text, or is compressed.
  ///
  /// Text that is not UTF-8 is read as Latin-1, in which every byte is a character: other bytes are another text.
  func text(of body: Data, _ contentType: String?, _ fields: HeaderFields) -> String? {
    let isPlain = fields["Content-Encoding"].map { HeaderFields.areEqual($0, "identity") } ?? true
    guard isPlain, let shown = self.body(body, contentType) else { return nil }
    let isUTF8 = String(data: shown, encoding: .utf8) != nil
    return isUTF8 ? String(decoding: shown, as: UTF8.self) : String(data: shown, encoding: .isoLatin1)
  }

  private func sketch(_ data: Data?, shown: String?, _ contentType: String?) -> RequestSketch.BodySketch {
    guard let data, !data.isEmpty else { return .none }
    let type = (contentType ?? "").lowercased()
    if type.hasPrefix("multipart/"), let boundary = PlayableRedaction.boundary(contentType ?? "") {
      return .parts(data.pieces(between: Data("--\(boundary)".utf8)).map(hash))
    }
    guard let text = shown else { return .bytes(Digest.sha256(of: data).hexadecimal) }
    if let json = try? OrderedJSON(parsing: Data(text.utf8)) { return .json(json) }
    guard type.hasPrefix("application/x-www-form-urlencoded") else { return .text(text) }
    let fields = text.split(separator: "&").map { pair -> RequestSketch.Pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        $0.replacing("+", with: " ").removingPercentEncoding ?? String($0)
      }
      return RequestSketch.Pair(name: parts[0], value: parts.count > 1 ? parts[1] : "")
    }
    return .form(compared(fields))
  }

  /// Returns the hash of a part without its secrets, because a short secret could be guessed from it; none of a secret
  /// part.
  private func hash(of part: Data) -> String {
    let head = String(decoding: part.prefix(4_096), as: UTF8.self)
    if let start = head.range(of: "name=\"") {
      let name = head[start.upperBound...].prefix { $0 != "\"" }
      if redactor.isSensitive(field: String(name)) { return Redactor.placeholder }
    }
    return Digest.sha256(of: withoutNumbers(redactor.hidingKnownSecrets(in: shown(part: part)))).hexadecimal
  }

  /// Returns a part whose content is shown as a body of its type; JSON is sorted, because an encoder may write the
  /// members in another order each time.
  private func shown(part: Data) -> Data {
    guard let end = part.firstRange(of: Data("\r\n\r\n".utf8)) else { return part }
    let fields = String(decoding: part[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let prefix = "content-type:"
    guard let type = fields.first(where: { $0.lowercased().hasPrefix(prefix) })?.dropFirst(prefix.utf8.count) else {
      return part
    }
    // Without numbers, because a request that is compared knows none.
    let plain = PlayableRedaction(redactor, numbered: false)
    guard let content = plain.body(Data(part[end.upperBound...]), String(HTTPSyntax.withoutOuterSpace(type))) else {
      return part
    }
    let json = type.lowercased().contains("json") ? try? OrderedJSON(parsing: content) : nil
    return part[..<end.upperBound] + (json.map { Data($0.sorted.line.utf8) } ?? content)
  }

  /// Returns a part in which placeholders have no numbers: a value that the cassette gave has one.
  private func withoutNumbers(_ part: Data) -> Data {
    guard let text = String(data: part, encoding: .utf8) else { return part }
    let pieces = RedactionPlaceholders.pieces(of: text)
    return pieces.count == 1 ? part : Data(pieces.map(\.text).joined(separator: Redactor.placeholder).utf8)
  }

  private static func boundary(_ contentType: String) -> String? {
    guard let start = contentType.range(of: "boundary=", options: .caseInsensitive) else {
      return nil
    }
    let value = contentType[start.upperBound...].prefix { $0 != ";" }
    return value.trimmingCharacters(in: CharacterSet(charactersIn: "\" "))
  }
}

extension Data {
  /// The bytes between the places of a separator, which need not be text.
  fileprivate func pieces(between separator: Data) -> [Data] {
    var pieces: [Data] = []
    var start = startIndex
    while let found = self[start...].firstRange(of: separator) {
      pieces.append(self[start..<found.lowerBound])
      start = found.upperBound
    }
    return pieces + [self[start...]]
  }
}
