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
/// Several processes may use one file; one of them at a time refreshes the token. A ``FileLock`` guards that, on a file
/// beside it that is never removed, `token.json.lock` in the example. Other users must not be able to write to the
/// folder.
///
/// The file has the permissions 0600. A file with other permissions is given these; that is an error if this process
/// may not do so. The file is replaced as a whole: whenever the process or the machine stops, it holds the old token or
/// the new one. A file with other content is an error of code ``NetworkError/Code-swift.struct/tokenStoreFailed`` until
/// it is removed, or until a sign-in or sign-out replaces it. If the URL is that of a symbolic link, all this is about
/// the file to which the link leads when the store is created, and the link stays.
///
/// On Apple platforms the file can be read from the first unlock after a start of the device, and is left out of
/// backups. The keychain is the better place there: use `KeychainTokenStore`.
public final class FileTokenStore: TokenStore {
  /// The file.
  public let url: URL

  /// The path without symbolic links: stores of one path are one store.
  public let location: String?

  // File functions block, and the threads of Swift concurrency must not.
  private let queue = BlockingQueue(label: "FileTokenStore")
  private let refreshLock: FileLock
  /// The file to which the URL leads, if it is that of a link.
  private let file: URL

  /// Creates a store.
  ///
  /// - Parameter url: The file's URL; its folder is made, for the user only, when a token is stored.
  public init(url: URL) {
    self.url = url
    // Otherwise a link would be replaced or removed, and the file to which it leads would keep its token.
    let file = FileTokenStore.followingLink(url)
    self.file = file
    refreshLock = FileLock(url: file.appendingPathExtension("lock"))
    let folder = file.deletingLastPathComponent().resolvingSymlinksInPath()
    location = folder.appending(path: file.lastPathComponent).standardizedFileURL.path(percentEncoded: false)
  }

  /// Returns the token; `nil` if there is no file.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  public func load() async throws -> AccessToken? {
    try await onQueue { path in try FileTokenStore.read(path) }
  }

  /// Replaces the file, or removes it.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``, also for a token that
  ///   could not be read again: one that is empty, has control characters, or is longer than 1 MiB.
  public func save(_ token: AccessToken?) async throws {
    let data = try token.map(StoredToken.encode)
    try await onQueue { path in
      if let data { _ = try TokenFile.replace(path, with: data) } else { try TokenFile.remove(path) }
    }
  }

  /// Runs the work while no other process refreshes the token of this file.
  ///
  /// - Throws: `CancellationError`, or ``NetworkError`` of code
  ///   ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  public func withRefreshLock(_ work: RefreshWork) async throws {
    try await refreshLock.withLock { await work() }
  }

  /// Replaces the file if it still holds the token that is expected; no other process writes it meanwhile.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``, also for a token that
  ///   could not be read again: one that is empty, has control characters, or is longer than 1 MiB.
  public func replace(_ old: AccessToken?, with new: AccessToken?) async throws -> Bool {
    let data = try new.map(StoredToken.encode)
    return try await onQueue { path in
      let isExpected = { AccessToken.isSame(try FileTokenStore.read(path), old) }
      guard let data else { return try TokenFile.remove(path, if: isExpected) }
      return try TokenFile.replace(path, with: data, if: isExpected)
    }
  }

  private static func read(_ path: String) throws -> AccessToken? {
    try TokenFile.read(path).map { try StoredToken.decode($0, from: "the token file \(path)") }
  }

  private static func followingLink(_ url: URL) -> URL {
    let path = url.path(percentEncoded: false)
    guard url.isFileURL, (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil else { return url }
    return URL(filePath: RealPath.of(path))
  }

  private func onQueue<Value: Sendable>(_ work: @escaping @Sendable (String) throws -> Value) async throws -> Value {
    guard url.isFileURL else {
      throw NetworkError.tokenStoreFailed("the token file's URL \(url) is not a file URL; make it with URL(filePath:)")
    }
    let path = file.path(percentEncoded: false)
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work(path) }) }
    }
  }
}
