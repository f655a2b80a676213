import Foundation

/// The bodies that are too large for the database: a file for each, in a folder of their own; every call blocks.
///
/// The folder is there for as long as the cache is. It is also the sign that a file which is no database any more was a
/// cache once.
struct CacheBodies: Sendable {
  let folder: String

  /// The most bytes of a body that is kept in the database.
  static let inlineLimit = 64 << 10

  /// Makes the folder if it is not there; the folder that it is in must be.
  func prepare() {
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// Whether the folder is there.
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

  /// Reads a body without copying it; nil if there is none.
  func read(_ name: String) -> Data? { try? Data(contentsOf: url(of: name), options: .mappedIfSafe) }

  /// Removes bodies.
  func remove(_ names: some Sequence<String>) {
    for name in names { try? FileManager.default.removeItem(at: url(of: name)) }
  }

  /// The names of all bodies.
  var names: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []) }

  private func url(of name: String) -> URL { URL(filePath: folder).appending(path: name) }

  /// A number that another body has once in 2⁶⁴ times, and that a change of one byte always changes.
  ///
  /// It finds what a power cut or a disk did to a body; it is no protection from somebody who may write to the file.
  static func checksum(_ body: Data) -> Int64 {
    body.withUnsafeBytes { bytes in
      var sum = UInt64(bytes.count)
      // Each step can be undone, so that a word that differs makes every later sum differ.
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
