/// Bytes that SQLite reads while a statement runs, so that it need not copy them one by one.
final class ByteArena {
  private let memory: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private var used = 0

  init(capacity: Int = 1 << 16) {
    self.capacity = capacity
    memory = .allocate(capacity: capacity)
  }

  deinit { memory.deallocate() }

  /// An address for what has no bytes.
  var start: UnsafeMutablePointer<UInt8> { memory }

  /// Makes all bytes free; only after the statement that reads them was reset.
  func removeAll() { used = 0 }

  /// Returns room for so many bytes that stays where it is, or nil when there is none.
  @inline(__always)
  func take(_ count: Int) -> UnsafeMutablePointer<UInt8>? {
    guard count <= capacity - used else { return nil }
    defer { used += count }
    return memory + used
  }
}
