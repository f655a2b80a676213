#if canImport(CRequestBehaviorsCurl)
  import Foundation

  /// Collects the body of a response from its parts.
  ///
  /// A small body is kept in memory that is reused, and the reader copies it: memory that is allocated on one thread
  /// and freed on another makes the allocator's locks contend.
  struct BodyCollector {
    /// The maximum number of bytes of a small body.
    private static let smallLimit = 16 * 1_024
    /// The maximum number of bytes that are reserved at once, whatever length a server claims.
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
    ///   - length: The announced length of the whole body.
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

    /// Clears all state, and keeps the memory for the next small body.
    mutating func reset() {
      small.removeAll(keepingCapacity: true)
      if !large.isEmpty { large = Data() }
    }
  }
#endif
