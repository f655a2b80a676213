#if canImport(CRequestBehaviorsCurl)
  import Foundation

  /// Puts the body of a response together from the parts that arrive.
  ///
  /// A small one stands in memory that is used again, and is copied by whoever takes it: memory that one thread gets and
  /// another frees has the two wait for each other.
  struct BodyCollector {
    /// The most bytes of a small body.
    private static let smallLimit = 16 * 1_024
    /// The most bytes that are made room for at once, whatever length a server makes up.
    private static let roomLimit = 1 << 20

    private var small: [UInt8] = []
    private var large = Data()

    /// The number of bytes that arrived.
    var count: Int { small.count + large.count }

    /// The bytes that arrived.
    var data: Data { large.isEmpty ? Data(small) : large }

    /// Takes a part of the body.
    ///
    /// - Parameters:
    ///   - bytes: The part.
    ///   - length: The length of the whole, as the server says.
    mutating func add(_ bytes: UnsafeRawBufferPointer, of length: @autoclosure () -> Int?) {
      if large.isEmpty, small.count + bytes.count <= BodyCollector.smallLimit {
        return small.append(contentsOf: bytes)
      }
      if large.isEmpty {
        large.reserveCapacity(min(max(length() ?? 0, small.count + bytes.count), BodyCollector.roomLimit))
        large.append(contentsOf: small)
        small.removeAll(keepingCapacity: true)
      }
      guard let start = bytes.baseAddress else { return }
      large.append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }

    /// Forgets everything, and keeps the memory for a further small body.
    mutating func reset() {
      small.removeAll(keepingCapacity: true)
      if !large.isEmpty { large = Data() }
    }
  }
#endif
