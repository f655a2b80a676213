public import Foundation

extension Digest {
  /// Returns the SHA-256 hash of a file's contents, which are read in parts.
  ///
  /// - Parameter file: The URL of a regular file.
  /// - Returns: The hash.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable`` if the file cannot be read;
  ///   `CancellationError` if the task is cancelled.
  public static func sha256(ofFile file: URL) async throws -> Digest {
    Digest(try await HashFunction.sha256.digest(ofFile: file))
  }

  /// Returns the SHA-1 hash of a file's contents, for APIs that still ask for it; see ``sha256(ofFile:)``.
  public static func sha1(ofFile file: URL) async throws -> Digest {
    Digest(try await HashFunction.sha1.digest(ofFile: file))
  }
}

extension HashFunction {
  /// Returns the hash of a file's contents, which are read in parts.
  ///
  /// - Parameter file: The URL of a regular file.
  /// - Returns: The hash, 20 or 32 octets long.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable`` if the file cannot be read;
  ///   `CancellationError` if the task is cancelled.
  package func digest(ofFile file: URL) async throws -> [UInt8] {
    let reader = try await FileQueue.read { try FileReader(file) }
    var hash = RunningHash(self)
    while true {
      try Task.checkCancellation()
      let part = try await FileQueue.read { try reader.next() }
      if part.isEmpty { return hash.digest() }
      hash.update(part)
    }
  }
}

/// Reads a file in parts of 256 KiB, and closes it when it is released.
private final class FileReader: Sendable {
  private let file: URL
  private let handle: FileHandle

  init(_ file: URL) throws {
    // A pipe, or another file that is not regular, might never end.
    _ = try RequestBody.length(ofFile: file)
    self.file = file
    do {
      handle = try FileHandle(forReadingFrom: file.resolvingSymlinksInPath())
    } catch {
      throw FileReader.unreadable(file, error)
    }
  }

  deinit { try? handle.close() }

  /// Returns the next part; empty at the end.
  func next() throws -> Data {
    do {
      return try handle.read(upToCount: 256 * 1_024) ?? Data()
    } catch {
      throw FileReader.unreadable(file, error)
    }
  }

  private static func unreadable(_ file: URL, _ error: any Error) -> NetworkError {
    NetworkError(
      .bodyUnreadable, "the body file \(file.path(percentEncoded: false)) could not be read to its end",
      underlyingError: error)
  }
}
