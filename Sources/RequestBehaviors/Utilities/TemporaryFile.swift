import Foundation

/// A file that is removed with the last reference to it.
final class TemporaryFile: Sendable {
  let url: URL

  /// Creates an empty file that only its owner can read or write.
  ///
  /// - Throws: `CocoaError` if the file cannot be created in the directory.
  init(in directory: URL) throws {
    url = directory.appendingPathComponent("RequestBehaviors-\(UUID().uuidString).body")
    // The body may contain secrets.
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: attributes) else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.path])
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
