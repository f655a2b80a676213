/// Stands in a ``KeyTable`` for a key that was not looked up yet.
let unresolvedColumn: Int32 = -2

/// The column of each coding key of one type, by the byte that is the key.
///
/// A key of a synthesised `CodingKeys` is one trivial byte: its column is found without making a string of it. The class is not generic
/// itself: generic code that is not specialised would look its metadata up for each value.
final class KeyTable {
  private let slots: UnsafeMutablePointer<Int32>
  private let isIndexed: Bool

  init<Key: CodingKey>(_ type: Key.Type) {
    slots = .allocate(capacity: 256)
    slots.initialize(repeating: unresolvedColumn, count: 256)
    // A byte stands for the key only if it is all there is of it: no reference, no payload elsewhere.
    isIndexed = MemoryLayout<Key>.size == 1 && _isPOD(Key.self)
  }

  deinit { slots.deallocate() }

  /// The place of a key of the table's type, or nil when that has another size than one byte.
  @inline(__always)
  func slot<Key: CodingKey>(of key: Key) -> UnsafeMutablePointer<Int32>? {
    isIndexed ? slots + Int(unsafeBitCast(key, to: UInt8.self)) : nil
  }
}
