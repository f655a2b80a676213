import RequestBehaviors

/// The first difference between the base string of a service and the one that was signed.
///
/// A service that refuses a signature often shows its base string, or has it in a log.
/// ``OAuth1Signature/difference(from:)`` compares the two.
public struct OAuth1BaseStringMismatch: Sendable, Hashable, CustomStringConvertible {
  /// The part of a base string (RFC 5849 §3.4.1.1).
  public enum Part: String, Sendable, Hashable {
    /// The request method.
    case method = "request method"
    /// The scheme, host, port and path.
    case uri = "base string URI"
    /// The parameters.
    case parameters = "parameters"
    /// The whole, which does not have three parts.
    case form = "form of the base string"
  }

  /// The part in which the difference is.
  public let part: Part
  /// The octet of the base string at which it begins, counted from 0.
  public let offset: Int
  /// The part that was signed there: a method, a URI, an encoded parameter; `nil` if there is no such part.
  public let signed: String?
  /// The part that the service has there; `nil` if it has no such part.
  public let service: String?
  /// The probable cause.
  public let hint: String

  /// The part, the place, both sides and the hint, in several lines.
  public var description: String {
    """
    The base strings differ from octet \(offset) on, in the \(part.rawValue).
      signed:  \(signed ?? "nothing")
      service: \(service ?? "nothing")
    \(hint)
    """
  }
}

extension OAuth1Signature {
  /// Compares the signed base string with the one that a service computed, and returns the first difference.
  ///
  /// Space around the service's text is ignored, and `&amp;` is read as `&`, as error pages write it. Values of
  /// parameters that speak of a password or a secret are not shown.
  ///
  /// - Parameter service: The base string as the service shows or logs it.
  /// - Returns: `nil` if they are the same; then the secrets, or the signature method, differ from the service's.
  public func difference(from service: String) -> OAuth1BaseStringMismatch? {
    let service = OAuth1Signature.cleaned(service)
    guard !service.utf8.elementsEqual(baseString.utf8) else { return nil }
    let offset = zip(service.utf8, baseString.utf8).prefix { $0 == $1 }.count

    // The parts are compared one by one, because the hint depends on the part.
    let ours = baseString.split(separator: "&", omittingEmptySubsequences: false)
    let theirs = service.split(separator: "&", omittingEmptySubsequences: false)
    guard theirs.count == 3 else {
      return OAuth1BaseStringMismatch(
        part: .form, offset: offset, signed: "3 parts", service: "\(theirs.count) parts",
        hint: "A base string has two & (§3.4.1.1). Was it decoded, or cut, before it was shown?")
    }
    if !theirs[0].utf8.elementsEqual(ours[0].utf8) {
      return OAuth1BaseStringMismatch(
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

  private func uriDifference(_ escaped: Substring, offset: Int) -> OAuth1BaseStringMismatch {
    let theirs = PercentEncoding.decodedForm(escaped)
    let ours = baseStringURI
    return OAuth1BaseStringMismatch(
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

extension OAuth1Signature {
  /// Returns the first difference between the signed parameters and an escaped parameter string of a service.
  func parameterDifference(_ escaped: Substring, offset: Int) -> OAuth1BaseStringMismatch {
    let theirs = OAuth1EncodedPair.list(form: PercentEncoding.decodedForm(Array(escaped.utf8)[...])[...])
    let ours = sortedParameters
    // The result may be logged, so secret values are hidden.
    let make = { (signed: OAuth1EncodedPair?, service: OAuth1EncodedPair?, hint: String) in
      OAuth1BaseStringMismatch(
        part: .parameters, offset: offset, signed: signed.map { redacted($0).encoded },
        service: service.map { redacted($0).encoded }, hint: hint)
    }
    let unmatched = OAuth1Signature.unmatched(ours, theirs)
    if let missing = unmatched.signed.first {
      guard let other = unmatched.service.first(where: { $0.name == missing.name }) else {
        return make(missing, nil, missingHint(missing))
      }
      return make(missing, other, OAuth1Signature.valueHint(signed: missing.value, service: other.value))
    }
    if let extra = unmatched.service.first { return make(nil, extra, OAuth1Signature.extraHint(extra)) }
    let place = zip(ours, theirs).first { $0 != $1 }
    return make(
      place?.0, place?.1,
      "The parameters are the same; their order or escaping is not. They are sorted by the octets of the escaped name,"
        + " then of the escaped value, and escapes are in capitals (§3.4.1.3.2, §3.6).")
  }

  /// Returns the parameters that only one of the two lists has; each duplicate counts.
  private static func unmatched(
    _ signed: [OAuth1EncodedPair], _ service: [OAuth1EncodedPair]
  ) -> (signed: [OAuth1EncodedPair], service: [OAuth1EncodedPair]) {
    var rest = service
    var missing: [OAuth1EncodedPair] = []
    for parameter in signed {
      if let index = rest.firstIndex(of: parameter) { rest.remove(at: index) } else { missing.append(parameter) }
    }
    return (missing, rest)
  }

  private func missingHint(_ parameter: OAuth1EncodedPair) -> String {
    if OAuth1Signature.ownParameters(url: url, formBody: formBody).contains(parameter) {
      return
        "The service did not collect it from the query or the form body: does the Content-Type that it received say"
        + " application/x-www-form-urlencoded, and did a proxy keep the query (§3.4.1.3.1)?"
    }
    return "The service did not collect this protocol parameter: some leave out one that they do not know."
  }

  private static func extraHint(_ parameter: OAuth1EncodedPair) -> String {
    switch String(decoding: parameter.name, as: UTF8.self) {
    case "oauth_signature": "The service signs the signature itself, which §3.4.1.3.1 excludes."
    case "realm": "The service signs the realm, which §3.4.1.3.1 excludes."
    default:
      "The service collected a parameter that was not signed: was it added on the way, or is the body a form that was"
        + " sent without its Content-Type (§3.4.1.3.1)?"
    }
  }

  private static func valueHint(signed: [UInt8], service: [UInt8]) -> String {
    let decode = { (octets: [UInt8]) in PercentEncoding.decodedForm(octets[...]) }
    let plus = { (octets: [UInt8]) in octets.map { $0 == 0x2b ? 0x20 : $0 } }
    if plus(signed) == plus(service) {
      return
        "A + and a space are taken for each other: in a query or form, + is a space and %2B is a plus (§3.4.1.3.1)."
    }
    if decode(service) == signed { return "The service escaped the value once more than it should (§3.4.1.3.2)." }
    if decode(signed) == service {
      return "The value was escaped once more than it should have been before it was signed and sent."
    }
    if service.isEmpty { return "The service lost the value." }
    return "The value is another: was it changed on the way, or is this the base string of another request?"
  }
}
