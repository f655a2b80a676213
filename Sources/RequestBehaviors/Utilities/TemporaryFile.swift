import Foundation

/// A file that is removed when nobody refers to it any more.
final class TemporaryFile: Sendable {
  let url: URL

  /// Creates an empty file that only its owner can read.
  ///
  /// - Throws: `CocoaError` if the directory does not take one.
  init(in directory: URL) throws {
    url = directory.appendingPathComponent("RequestBehaviors-\(UUID().uuidString).body")
    // The body may hold secrets.
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: attributes) else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.path])
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
