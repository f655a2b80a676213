import RequestBehaviors

/// A name and a value percent-encoded, as they are signed (RFC 5849 §3.4.1.3.2).
struct OAuth1EncodedParameter: Equatable {
  let name: [UInt8]
  let value: [UInt8]

  init(_ parameter: OAuth1EncodedPair) {
    name = PercentEncoding.escaped(parameter.name)
    value = PercentEncoding.escaped(parameter.value)
  }

  init(_ parameter: (name: String, value: String)) {
    name = PercentEncoding.escaped(parameter.name.utf8)
    value = PercentEncoding.escaped(parameter.value.utf8)
  }

  /// Appends `name=value`.
  func append(to result: inout [UInt8]) {
    result += name
    result.append(UInt8(ascii: "="))
    result += value
  }
}
