import Foundation

/// The bodies that are too large for the database, in a folder with a file for each; every call blocks.
///
/// The folder exists for as long as the cache. It is also the sign that a damaged file was a cache.
struct CacheBodies: Sendable {
  let folder: String

  /// The most bytes of a body that is kept in the database.
  static let inlineLimit = 64 << 10

  /// Makes the folder if it does not exist; its parent folder must exist.
  func prepare() {
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

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
    let name = UUID().uuidString
    do {
      try body.write(to: url(of: name))
    } catch {
      remove([name])
      throw SQLiteError(
        .full, "the body could not be written to \(folder): \(error.localizedDescription)", path: folder)
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
      var sum = UInt64(bytes.count)
      // Each step is reversible, so a different word makes every later sum different.
      func add(_ word: UInt64) {
        sum = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
        sum ^= sum >> 32
      }
      let words = bytes.count / 8
      for index in 0..<words { add(bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self).littleEndian) }
      add(bytes[(words * 8)...].reversed().reduce(0) { $0 << 8 | UInt64($1) })
      return Int64(bitPattern: sum)
    }
  }
}
