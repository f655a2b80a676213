public import Foundation

extension Redactor {
  /// Returns a URL as text, without user info and fragment, and with query values hidden unless their name is allowed.
  ///
  /// The path is shown, except for segments that are a JSON Web Token. Of a URL without an authority, such as `data:`
  /// or `mailto:`, only the scheme is shown.
  ///
  /// - Parameter url: The URL; a relative one is resolved against its base first.
  /// - Returns: Text to read, which is not always a valid URL.
  public func redact(_ url: URL) -> String { redact(urlReference: url.absoluteString) }

  /// Redacts a URL or a relative reference, such as the value of `Location`.
  func redact(urlReference text: String) -> String {
    var text = text
    let shown = text.withUTF8 { bytes in
      var output: [UInt8] = []
      output.reserveCapacity(bytes.count + 16)
      rules.appendURL(bytes, to: &output)
      return String(decoding: output, as: UTF8.self)
    }
    return knownSecrets.hide(in: shown)
  }
}

extension RedactionRules {
  /// Appends a URL or relative reference in its redacted form.
  func appendURL(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    let fragment = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
    let query = bytes[..<fragment].firstIndex(of: UInt8(ascii: "?")) ?? fragment
    let hierarchy = bytes[..<query]
    guard let start = RedactionRules.authorityStart(hierarchy) else {
      // Without an authority, this is a relative path, or a scheme whose content may be a secret.
      guard let colon = RedactionRules.schemeEnd(hierarchy) else {
        appendPath(hierarchy, to: &output)
        return appendQuery(bytes[query..<fragment], to: &output)
      }
      output.append(contentsOf: bytes[...colon])
      return output.append(contentsOf: RedactionRules.placeholder)
    }
    let end = hierarchy[start...].firstIndex(of: UInt8(ascii: "/")) ?? query
    let userInfoEnd = hierarchy[start..<end].lastIndex(of: UInt8(ascii: "@"))
    let host = userInfoEnd.map { $0 + 1 } ?? start
    output.append(contentsOf: bytes[..<start])
    // A port without digits is a password with a slash in it: `https://user:p/w@host/`.
    guard RedactionRules.isHostAndPort(bytes[host..<end]) else {
      return output.append(contentsOf: RedactionRules.placeholder)
    }
    output.append(contentsOf: bytes[host..<end])
    appendPath(bytes[end..<query], to: &output)
    appendQuery(bytes[query..<fragment], to: &output)
  }

  /// Appends a path; of a segment with a JSON Web Token, only the part before the token.
  private func appendPath(_ path: Slice<UnsafeBufferPointer<UInt8>>, to output: inout [UInt8]) {
    var start = path.startIndex
    while start < path.endIndex {
      let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
      let token = path[start..<end].webTokenStart
      output.append(contentsOf: path[start..<(token ?? end)])
      if token != nil { output.append(contentsOf: RedactionRules.placeholder) }
      if end < path.endIndex { output.append(path[end]) }
      start = end + 1
    }
  }

  /// Appends `?` and the items of a query; values are hidden unless allowed.
  private func appendQuery(_ query: Slice<UnsafeBufferPointer<UInt8>>, to output: inout [UInt8]) {
    guard let mark = query.first else { return }
    output.append(mark)
    let isSignIn = SignInNames.isSignIn(pairs: query.dropFirst())
    var start = query.startIndex + 1
    while start < query.endIndex {
      let end = query[start...].firstIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") } ?? query.endIndex
      appendItem(query[start..<end], isSignIn: isSignIn, to: &output)
      if end < query.endIndex { output.append(query[end]) }
      start = end + 1
    }
  }

  private func appendItem(
    _ item: Slice<UnsafeBufferPointer<UInt8>>, isSignIn: Bool, to output: inout [UInt8]
  ) {
    guard !item.isEmpty else { return }
    let equals = item.firstIndex(of: UInt8(ascii: "="))
    let name = UnsafeBufferPointer(rebasing: item[..<(equals ?? item.endIndex)])
    let isShown = queryNames.contains(name) || (!isSignIn && SignInNames.ambiguous(name) == .state)
    if isShown, !isSensitive(field: name) {
      output.append(contentsOf: item)
      return
    }
    // An item without `=` has no name to judge by: `?c2VjcmV0` may be a token.
    if let equals { output.append(contentsOf: item[...equals]) }
    output.append(contentsOf: RedactionRules.placeholder)
  }

  private static func isHostAndPort(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    let port = bytes.reversed().prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "]") }
    return port.count == bytes.count || port.allSatisfy(\.isASCIIDigit)
  }

  /// Returns the index after `//`, where an authority begins.
  private static func authorityStart(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    let slash = UInt8(ascii: "/")
    var start = bytes.startIndex
    if let colon = schemeEnd(bytes) { start = colon + 1 }
    guard start + 1 < bytes.endIndex, bytes[start] == slash, bytes[start + 1] == slash else { return nil }
    return start + 2
  }

  /// Returns the index of the colon that ends a scheme (RFC 3986 §3.1).
  private static func schemeEnd(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex else { return nil }
    let isScheme = bytes[..<colon].allSatisfy(\.isSchemeByte)
    return isScheme && !bytes[bytes.startIndex].isASCIIDigit ? colon : nil
  }
}

extension UInt8 {
  var isSchemeByte: Bool {
    isASCIIAlphanumeric || self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
  }
}
