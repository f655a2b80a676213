import Foundation

/// Parameters percent-encoded one after the other, so that sorting them moves no text.
struct OAuth1ParameterList: ~Copyable {
  /// A name and a value, as places in the buffer.
  struct Entry {
    let start: Int
    let nameEnd: Int
    let end: Int
  }

  private var buffer: OctetBuffer
  private(set) var entries: [Entry] = []

  init(capacity: Int) {
    buffer = OctetBuffer(capacity: capacity)
    entries.reserveCapacity(16)
  }

  /// The first name that is among the parameters already and in a list of names too.
  ///
  /// Only names that begin with `oauth_` are looked for.
  borrowing func firstName(alsoIn names: [(name: String, value: String)]) -> String? {
    buffer.withOctets { octets in
      for entry in entries {
        let name = UnsafeBufferPointer(rebasing: octets[entry.start..<entry.nameEnd])
        guard name.starts(with: "oauth_".utf8) else { continue }
        if let same = names.first(where: { name.elementsEqual($0.name.utf8) }) { return same.name }
      }
      return nil
    }
  }

  mutating func append(_ name: String, _ value: String) {
    let start = buffer.count
    buffer.append(escaping: name)
    let nameEnd = buffer.count
    buffer.append(escaping: value)
    finish(start, nameEnd)
  }

  /// Appends the parameters of a query or a form body, without any `oauth_signature` (RFC 5849 §3.4.1.3.1).
  mutating func append(form octets: UnsafeBufferPointer<UInt8>) {
    var index = 0
    while index < octets.count {
      let rest = UnsafeBufferPointer(rebasing: octets[index...])
      let length = rest.firstIndex(of: UInt8(ascii: "&")) ?? rest.count
      index += length + 1
      guard length > 0 else { continue }
      append(pair: UnsafeBufferPointer(rebasing: rest[..<length]))
    }
  }

  private mutating func append(pair: UnsafeBufferPointer<UInt8>) {
    let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.count
    let start = buffer.count
    buffer.append(escapingForm: UnsafeBufferPointer(rebasing: pair[..<equals]))
    let nameEnd = buffer.count
    buffer.append(escapingForm: UnsafeBufferPointer(rebasing: pair[min(equals + 1, pair.count)...]))
    finish(start, nameEnd)
  }

  private mutating func finish(_ start: Int, _ nameEnd: Int) {
    let isSignature = buffer.withOctets { $0[start..<nameEnd].elementsEqual("oauth_signature".utf8) }
    if !isSignature { entries.append(Entry(start: start, nameEnd: nameEnd, end: buffer.count)) }
  }

  /// Sorts by name in octet order, and same names by value (RFC 5849 §3.4.1.3.2).
  mutating func sort() {
    var sorted = entries
    buffer.withOctets { octets in
      guard let base = octets.baseAddress else { return }
      sorted.sort { left, right in
        let names = compare(base, left.start..<left.nameEnd, right.start..<right.nameEnd)
        return names != 0 ? names < 0 : compare(base, left.nameEnd..<left.end, right.nameEnd..<right.end) < 0
      }
    }
    entries = sorted
  }

  /// Appends `name=value` of each, with `&` between them (RFC 5849 §3.4.1.3.2).
  func writeParameterString(to output: inout OctetBuffer) {
    buffer.withOctets { octets in
      for (index, entry) in entries.enumerated() {
        if index > 0 { output.append(UInt8(ascii: "&")) }
        output.append(UnsafeBufferPointer(rebasing: octets[entry.start..<entry.nameEnd]))
        output.append(UInt8(ascii: "="))
        output.append(UnsafeBufferPointer(rebasing: octets[entry.nameEnd..<entry.end]))
      }
    }
  }

  /// The decoded parameters.
  func parameters() -> [OAuth1Parameter] {
    buffer.withOctets { octets in
      entries.map {
        OAuth1Parameter(
          name: OctetBuffer.decodedForm(UnsafeBufferPointer(rebasing: octets[$0.start..<$0.nameEnd])),
          value: OctetBuffer.decodedForm(UnsafeBufferPointer(rebasing: octets[$0.nameEnd..<$0.end])))
      }
    }
  }
}

private func compare(_ base: UnsafePointer<UInt8>, _ left: Range<Int>, _ right: Range<Int>) -> Int {
  let order = memcmp(base + left.lowerBound, base + right.lowerBound, min(left.count, right.count))
  return order != 0 ? Int(order) : left.count - right.count
}
