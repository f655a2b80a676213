import Foundation
import RequestBehaviors

/// The bodies that are too large for the database, in a folder with a file for each; every call blocks.
///
/// The folder exists for as long as the cache. It is also the sign that a damaged file was a cache.
struct CacheBodies: Sendable {
  let folder: String

  /// The most bytes of a body that is kept in the database.
  static let inlineLimit = 64 << 10

  private static let onlyOwner: [FileAttributeKey: any Sendable] = [.posixPermissions: 0o700]

  /// Makes the folder if it does not exist; its parent folder must exist.
  func prepare() {
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: Self.onlyOwner)
  }

  /// Removes the permissions of all users but the owner from the folder, which may have been there before.
  func protect() { try? FileManager.default.setAttributes(Self.onlyOwner, ofItemAtPath: folder) }

  /// Whether the folder exists.
  var isPrepared: Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) && isDirectory.boolValue
  }

  /// Writes a body.
  ///
  /// - Returns: The name of its file.
  func write(_ body: Data) throws -> String {
    prepare()
    let name = RandomSource.uniqueName()
    do {
      try body.write(to: url(of: name))
    } catch {
      remove([name])
      // To remove other bodies helps on a full disk only.
      let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
      throw SQLiteError(
        isFull ? .full : .io, "the body could not be written to \(folder): \(error.localizedDescription)", path: folder)
    }
    return name
  }

  /// Reads a body without copying it; `nil` if its file is missing.
  func read(_ name: String) -> Data? { try? Data(contentsOf: url(of: name), options: .mappedIfSafe) }

  /// Removes bodies.
  func remove(_ names: some Sequence<String>) {
    for name in names { try? FileManager.default.removeItem(at: url(of: name)) }
  }

  /// The names of all bodies.
  var names: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []) }

  private func url(of name: String) -> URL { URL(filePath: folder).appending(path: name) }

  /// Returns a checksum of 64 bits, which a change of one byte always changes.
  ///
  /// It detects the damage of a power cut or a disk. It does not protect from a program that may write to the file.
  static func checksum(_ body: Data) -> Int64 {
    body.withUnsafeBytes { bytes in
      func word(at offset: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian }
      // Four sums beside each other, because each multiplication waits for the one before it.
      var sums = (UInt64(bytes.count), UInt64(1), UInt64(2), UInt64(3))
      let end = bytes.count / 32 * 32
      for offset in stride(from: 0, to: end, by: 32) {
        sums.0 = mixed(sums.0, word(at: offset))
        sums.1 = mixed(sums.1, word(at: offset + 8))
        sums.2 = mixed(sums.2, word(at: offset + 16))
        sums.3 = mixed(sums.3, word(at: offset + 24))
      }
      // From a constant on, because a step by itself depends only on where its two words differ.
      var sum = mixed(mixed(mixed(mixed(0, sums.0), sums.1), sums.2), sums.3)
      for offset in stride(from: end, to: bytes.count, by: 8) {
        let rest = bytes[offset..<min(offset + 8, bytes.count)]
        sum = mixed(sum, rest.reversed().reduce(0) { $0 << 8 | UInt64($1) })
      }
      return Int64(bitPattern: sum)
    }
  }

  /// Returns a sum with one more word.
  ///
  /// The step is reversible, so a different word makes every later sum different.
  private static func mixed(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let product = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 32
  }
}
