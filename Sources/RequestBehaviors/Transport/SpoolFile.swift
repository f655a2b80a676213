import Foundation

/// A file without a name that one writes to its end and another reads from its beginning.
///
/// A body has several, one after the other, so that disk space is free again when it has been read.
final class SpoolFile: @unchecked Sendable {
  // Unchecked because the counts are protected by the owner's lock; each handle has one user.

  /// How long the file becomes.
  private let capacity: Int64
  var written: Int64 = 0
  var read: Int64 = 0
  private let writer: FileHandle
  private let reader: FileHandle

  /// Creates an empty file.
  ///
  /// - Parameters:
  ///   - settings: Where it is.
  ///   - held: How many bytes other files hold. The more, the longer this one becomes, so that a reader who lags far
  ///     behind does not use up the process's descriptors.
  /// - Throws: ``NetworkError`` of code `bodyUnreadable`.
  init(in settings: BodySpool, held: Int64) throws {
    capacity = max(32 * 1_024 * 1_024, held / 4)
    do {
      let file = try TemporaryFile(in: settings.directory)
      writer = try FileHandle(forWritingTo: file.url)
      reader = try FileHandle(forReadingFrom: file.url)
      // The name goes with the value that stands for it.
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
