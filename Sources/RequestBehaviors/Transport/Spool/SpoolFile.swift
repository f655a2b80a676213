import Foundation

/// A file without a name.
///
/// The producer appends to it while the reader reads from its beginning.
///
/// A body uses several files one after the other, so that disk space becomes free as the body is read.
final class SpoolFile: @unchecked Sendable {
  // Unchecked because the owner's lock protects the counts, and each file handle has one user.

  /// The maximum length of the file.
  private let capacity: Int64
  var written: Int64 = 0
  var read: Int64 = 0
  private let writer: FileHandle
  private let reader: FileHandle

  /// Creates an empty file.
  ///
  /// - Parameters:
  ///   - settings: The settings of the spool.
  ///   - held: The number of bytes that other files hold. The larger it is, the longer this file becomes, so that a
  ///     reader that lags far behind does not use up the process's descriptors.
  /// - Throws: ``NetworkError`` of code `bodyUnreadable`.
  init(in settings: BodySpool, held: Int64) throws {
    capacity = max(32 * 1_024 * 1_024, held / 4)
    do {
      let file = try TemporaryFile(in: settings.directory)
      writer = try FileHandle(forWritingTo: file.url)
      reader = try FileHandle(forReadingFrom: file.url)
      // The file's name is removed when this value is released.
      withExtendedLifetime(file) {}
    } catch {
      throw settings.isUnwritable(error)
    }
  }

  var hasRoom: Bool { written < capacity }

  func write(_ data: Data) throws { try writer.write(contentsOf: data) }

  func read(_ count: Int) throws -> Data {
    let data = try reader.read(upToCount: count) ?? Data()
    guard data.count == count else { throw CocoaError(.fileReadCorruptFile) }
    return data
  }
}

extension BodySpool {
  var isFull: NetworkError {
    NetworkError(
      .bodyTooLarge,
      "the reader of the streamed response is more than \(limit) bytes behind; read faster, or raise the spool's limit")
  }

  func isUnwritable(_ error: any Error) -> NetworkError {
    NetworkError(
      .bodyUnreadable, "what the reader lags behind could not be written to \(directory.path); is the disk full?",
      underlyingError: error)
  }

  func isUnreadable(_ error: any Error) -> NetworkError {
    NetworkError(
      .bodyUnreadable, "what the reader lags behind could not be read again from \(directory.path)",
      underlyingError: error)
  }
}
