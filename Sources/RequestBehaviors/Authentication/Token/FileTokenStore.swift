public import Foundation

/// Keeps a token in a file that only the user can read.
///
/// ```swift
/// let folder = try FileManager.default.url(
///   for: .applicationSupportDirectory, in: .userDomainMask,
///   appropriateFor: nil, create: false)
/// let store = FileTokenStore(
///   url: folder.appending(path: "shop/token.json"))
/// ```
///
/// The file has the permissions 0600. It is replaced as a whole: whenever the process or the machine is stopped, the
/// file holds the old token or the new one. A file that holds neither is an error of code
/// ``NetworkError/Code-swift.struct/tokenStoreFailed`` until it is removed or somebody signs in or out. On Apple
/// platforms the file can be read from the first unlock after a start of the device on and is left out of backups; the
/// keychain is the better place there: use `KeychainTokenStore`.
public final class FileTokenStore: TokenStore {
  /// The file.
  public let url: URL

  /// The path, with the symbolic links that lead to the folder resolved: stores of one path are one store.
  public let location: String?

  // Files block; the threads of Swift concurrency must not.
  private let queue = DispatchQueue(label: "FileTokenStore")

  /// Creates a store.
  ///
  /// - Parameter url: The file's URL; its folder is made, for the user only, when a token is stored.
  public init(url: URL) {
    self.url = url
    let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
    location = folder.appending(path: url.lastPathComponent).standardizedFileURL.path(percentEncoded: false)
  }

  /// Returns the token; `nil` if there is no file.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  public func load() async throws -> AccessToken? {
    try await onQueue { path in
      guard let data = try TokenFile.read(path) else { return nil }
      return try StoredToken.decode(data, from: "the token file \(path)")
    }
  }

  /// Replaces the file, or removes it.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  public func save(_ token: AccessToken?) async throws {
    let data = try token.map(StoredToken.encode)
    try await onQueue { path in
      if let data { try TokenFile.replace(path, with: data) } else { try TokenFile.remove(path) }
    }
  }

  private func onQueue<Value: Sendable>(_ work: @escaping @Sendable (String) throws -> Value) async throws -> Value {
    guard url.isFileURL else {
      throw NetworkError.tokenStoreFailed("the token file's URL \(url) is no file URL; make it with URL(filePath:)")
    }
    let path = url.path(percentEncoded: false)
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work(path) }) }
    }
  }
}
