extension OAuth1Signature {
  /// The first difference between the signed parameters and an escaped parameter string of a service.
  func parameterDifference(_ escaped: Substring, offset: Int) -> OAuth1Difference {
    let theirs = OAuth1Signature.decoded(escaped).split(separator: "&").map { OAuth1Signature.parameter($0) }
    let ours = sortedParameters
    let make = { (signed: OAuth1Parameter?, service: OAuth1Parameter?, hint: String) in
      OAuth1Difference(
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

  /// What only one of the two lists has, each duplicate counted.
  private static func unmatched(
    _ signed: [OAuth1Parameter], _ service: [OAuth1Parameter]
  ) -> (signed: [OAuth1Parameter], service: [OAuth1Parameter]) {
    var rest = service
    var missing: [OAuth1Parameter] = []
    for parameter in signed {
      if let index = rest.firstIndex(of: parameter) { rest.remove(at: index) } else { missing.append(parameter) }
    }
    return (missing, rest)
  }

  private static func parameter(_ pair: Substring) -> OAuth1Parameter {
    var list = OAuth1ParameterList(capacity: pair.utf8.count * 3)
    Array(pair.utf8).withUnsafeBufferPointer { list.append(form: $0) }
    return list.parameters().first ?? OAuth1Parameter("oauth_signature", "")
  }

  private func missingHint(_ parameter: OAuth1Parameter) -> String {
    let fromBody = OAuth1Signature.collect(url: url, formBody: formBody, parameters: []).parameters()
      .contains(parameter)
    if fromBody {
      return
        "The service did not collect it from the query or the form body: does the Content-Type that it received say"
        + " application/x-www-form-urlencoded, and did a proxy keep the query (§3.4.1.3.1)?"
    }
    return "The service did not collect this protocol parameter: some leave out one that they do not know."
  }

  private static func extraHint(_ parameter: OAuth1Parameter) -> String {
    switch String(decoding: parameter.name, as: UTF8.self) {
    case "oauth_signature": "The service signs the signature itself, which §3.4.1.3.1 excludes."
    case "realm": "The service signs the realm, which §3.4.1.3.1 excludes."
    default:
      "The service collected a parameter that was not signed: was it added on the way, or is the body a form that was"
        + " sent without its Content-Type (§3.4.1.3.1)?"
    }
  }

  private static func valueHint(signed: [UInt8], service: [UInt8]) -> String {
    let decode = { (octets: [UInt8]) in octets.withUnsafeBufferPointer { OctetBuffer.decodedForm($0) } }
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
