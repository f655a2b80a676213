import Foundation

/// A file that is removed with the last reference to it.
final class TemporaryFile: Sendable {
  let url: URL

  /// Creates an empty file that only its owner can read or write.
  ///
  /// - Throws: `CocoaError` if the file cannot be created in the directory.
  init(in directory: URL) throws {
    url = directory.appendingPathComponent("RequestBehaviors-\(RandomSource.uniqueName()).body")
    // The body may contain secrets, and must not be mixed with another one.
    let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CocoaError.writing(url.path) }
    // The umask of the process may have removed rights that the owner needs.
    fchmod(descriptor, 0o600)
    close(descriptor)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
