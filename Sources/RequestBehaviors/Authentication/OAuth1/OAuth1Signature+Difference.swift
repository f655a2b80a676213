extension OAuth1Signature {
  /// Compares the signed base string with the one that a service computed, and points at the first difference.
  ///
  /// Space around the service's text is ignored, and `&amp;` is read as `&`, as error pages write it. Values of parameters
  /// that speak of a password or a secret are not shown.
  ///
  /// - Parameter service: The base string as the service shows or logs it.
  /// - Returns: `nil` if they are the same; then the secrets, or the signature method, are not those of the service.
  public func difference(from service: String) -> OAuth1Difference? {
    let service = OAuth1Signature.cleaned(service)
    guard !service.utf8.elementsEqual(baseString.utf8) else { return nil }
    let offset = zip(service.utf8, baseString.utf8).prefix { $0 == $1 }.count

    let ours = baseString.split(separator: "&", omittingEmptySubsequences: false)
    let theirs = service.split(separator: "&", omittingEmptySubsequences: false)
    guard theirs.count == 3 else {
      return OAuth1Difference(
        part: .form, offset: offset, signed: "3 parts", service: "\(theirs.count) parts",
        hint: "A base string has two & (§3.4.1.1). Was it decoded, or cut, before it was shown?")
    }
    if !theirs[0].utf8.elementsEqual(ours[0].utf8) {
      return OAuth1Difference(
        part: .method, offset: offset, signed: String(ours[0]), service: String(theirs[0]),
        hint: "Was the request redirected, or the method overridden on the way?")
    }
    if !theirs[1].utf8.elementsEqual(ours[1].utf8) {
      return uriDifference(theirs[1], offset: offset)
    }
    return parameterDifference(theirs[2], offset: offset)
  }

  private static func cleaned(_ service: String) -> String {
    let space: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d, 0x22]
    let start = service.utf8.drop { space.contains($0) }
    let text = String(decoding: start.reversed().drop { space.contains($0) }.reversed(), as: UTF8.self)
    return text.split(separator: "&amp;", omittingEmptySubsequences: false).joined(separator: "&")
  }

  private func uriDifference(_ escaped: Substring, offset: Int) -> OAuth1Difference {
    let theirs = OAuth1Signature.decoded(escaped)
    let ours = baseStringURI
    return OAuth1Difference(
      part: .uri, offset: offset, signed: ours, service: theirs,
      hint: OAuth1Signature.uriHint(signed: OAuth1URIParts(ours), service: OAuth1URIParts(theirs)))
  }

  private static func uriHint(signed: OAuth1URIParts, service: OAuth1URIParts) -> String {
    if signed.scheme != service.scheme {
      return "The scheme differs: behind a proxy that ends TLS, a service must be told that its outside is https."
    }
    if signed.authority != service.authority {
      return "The host or port differs: a proxy may have replaced the Host field, or the service keeps a default port"
        + " (§3.4.1.2)."
    }
    if signed.path.hasSuffix("/") != service.path.hasSuffix("/") {
      return "A slash at the end of the path differs: was the request redirected, or the path rewritten?"
    }
    return
      "The path differs: a proxy may have rewritten it, or escapes in it were decoded or written otherwise (§3.4.1.2)."
  }

  static func decoded(_ text: some StringProtocol) -> String {
    String(decoding: Array(text.utf8).withUnsafeBufferPointer { OctetBuffer.decodedForm($0) }, as: UTF8.self)
  }
}

/// The scheme, authority and path of a base string URI.
private struct OAuth1URIParts {
  let scheme: Substring
  let authority: Substring
  let path: Substring

  init(_ uri: String) {
    let parts = uri.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    scheme = parts[0]
    authority = parts.count > 2 ? parts[2] : ""
    path = parts.count > 3 ? parts[3] : ""
  }
}
