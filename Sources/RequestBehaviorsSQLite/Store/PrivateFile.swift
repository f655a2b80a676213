import Foundation
import RequestBehaviors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// Creates and protects database files that only their owner may read and write.
///
/// Every call blocks.
enum PrivateFile {
  private static let mode: mode_t = 0o600

  /// Creates an empty file if it does not exist; SQLite gives its `-wal` and `-shm` the same mode.
  ///
  /// The file is created under another name first, because closing a file that another thread has opened by its name
  /// would release that thread's locks. If the file cannot be created here, SQLite creates it, or reports why it
  /// cannot.
  ///
  /// - Throws: ``SQLiteError`` if the process may not create a file in the folder.
  static func create(_ path: String, _ protection: SQLiteFileProtection?) throws {
    guard access(path, F_OK) != 0 else { return try setClass(protection, of: path) }
    let temporary = "\(path)-\(RandomSource.uniqueName())"
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard file >= 0 else {
      let reason = errno
      guard [EACCES, EPERM, EROFS].contains(reason) else { return }
      // SQLite would try to read the file next, and report that it does not exist.
      var error = SQLiteError(
        .cannotOpen, "the file cannot be created: \(String(cString: strerror(reason)))", path: path)
      error.systemErrno = reason
      throw error
    }
    // The umask of the process may have removed permissions.
    fchmod(file, mode)
    close(file)
    defer { unlink(temporary) }
    try setClass(protection, of: temporary)
    link(temporary, path)
  }

  /// Gives a database file, its `-wal` and its `-shm` a class of data protection.
  private static func setClass(_ protection: SQLiteFileProtection?, of path: String) throws {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
      // Only these platforms have classes of data protection.
      guard let protection else { return }
      let type: FileProtectionType =
        switch protection {
        case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
        case .completeUnlessOpen: .completeUnlessOpen
        case .complete: .complete
        }
      // SQLite makes the other two files when it needs them.
      for file in [path, path + "-wal", path + "-shm"] where access(file, F_OK) == 0 {
        do {
          try FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: file)
        } catch {
          throw SQLiteError(.io, "\(file) could not get the protection \(protection): \(error)", path: path)
        }
      }
    #endif
  }

  /// Removes the permissions of all users but the owner from a database file, its `-wal` and its `-shm`.
  static func protect(_ path: String) throws {
    for file in [path, path + "-wal", path + "-shm"] {
      var status = stat()
      guard stat(file, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
      guard chmod(file, mode) == 0 else {
        throw SQLiteError(
          .readOnly,
          "others than its owner may read \(file), which holds what only its owner may read, and that cannot be changed: "
            + String(cString: strerror(errno)), path: path)
      }
    }
  }
}
