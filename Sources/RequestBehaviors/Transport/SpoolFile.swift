import Foundation

/// A file without a name that one writes to its end and another reads from its beginning.
///
/// A body has several, one after the other, so that disk space is free again when it has been read.
final class SpoolFile: @unchecked Sendable {
  // Unchecked because the counts are protected by the owner's lock; each handle has one user.

  /// How long a file becomes.
  private static let capacity: Int64 = 32 * 1_024 * 1_024

  var written: Int64 = 0
  var read: Int64 = 0
  private let writer: FileHandle
  private let reader: FileHandle

  init(in settings: BodySpool) throws {
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

  var hasRoom: Bool { written < SpoolFile.capacity }

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
