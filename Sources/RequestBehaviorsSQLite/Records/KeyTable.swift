/// Stands in a ``KeyTable`` for a key that was not looked up yet.
///
/// Not a member: naming a member of a generic type looks its metadata up each time.
let unresolvedColumn: Int32 = -2

/// The column of each coding key of one type, by the byte that is the key.
///
/// A key of a synthesised `CodingKeys` is one trivial byte: its column is found without making a string of it.
final class KeyTable<Key: CodingKey> {
  let slots: UnsafeMutablePointer<Int32>
  let isIndexed: Bool

  init() {
    slots = .allocate(capacity: 256)
    slots.initialize(repeating: unresolvedColumn, count: 256)
    // A byte stands for the key only if it is all there is of it: no reference, no payload elsewhere.
    isIndexed = MemoryLayout<Key>.size <= 1 && _isPOD(Key.self)
  }

  deinit { slots.deallocate() }

  /// The place of the key, or nil when its type has more than one byte.
  @inline(__always)
  func slot(of key: Key) -> UnsafeMutablePointer<Int32>? {
    guard isIndexed else { return nil }
    return slots + withUnsafeBytes(of: key) { Int($0.first ?? 0) }
  }

  func forget() { slots.update(repeating: unresolvedColumn, count: 256) }
}
