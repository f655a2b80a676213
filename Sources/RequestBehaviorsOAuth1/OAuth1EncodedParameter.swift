import RequestBehaviors

/// A name and a value percent-encoded, as they are signed (RFC 5849 §3.4.1.3.2).
struct OAuth1EncodedParameter: Equatable {
  /// `name=value`, in one list, because each costs an allocation.
  let octets: [UInt8]
  private let nameCount: Int

  init(_ parameter: OAuth1EncodedPair) { self.init(parameter.name, parameter.value) }

  init(_ parameter: (name: String, value: String)) { self.init(parameter.name.utf8, parameter.value.utf8) }

  private init(_ name: some Collection<UInt8>, _ value: some Collection<UInt8>) {
    var octets: [UInt8] = []
    // Most octets are not escaped, so that this is mostly enough.
    octets.reserveCapacity((name.count + value.count) * 2 + 1)
    PercentEncoding.append(escaping: name, to: &octets)
    nameCount = octets.count
    octets.append(UInt8(ascii: "="))
    PercentEncoding.append(escaping: value, to: &octets)
    self.octets = octets
  }

  var name: ArraySlice<UInt8> { octets[..<nameCount] }
  var value: ArraySlice<UInt8> { octets[(nameCount + 1)...] }
}
