package import Foundation

/// The bytes that a file has when it is opened.
///
/// They are read on a queue of their own, because reading may block.
package struct FileChunks: AsyncSequence, Sendable {
  package typealias Element = Data

  /// Returns how many bytes are read at once.
  ///
  /// A long file is read in larger chunks, because each chunk costs changes of thread.
  private static func chunkCount(_ length: Int64) -> Int64 { Swift.min(Swift.max(length / 16, 256 * 1_024), 1 << 20) }

  /// An open file.
  fileprivate struct OpenFile: Sendable {
    let length: Int64
    let handle: FileHandle

    init(_ url: URL) async throws {
      (length, handle) = try await FileQueue.run {
        let length = try FileChunks.length(of: url)
        do {
          return (length, try FileHandle(forReadingFrom: url))
        } catch {
          throw NetworkError(.bodyUnreadable, "the body file \(url.path) could not be opened", underlyingError: error)
        }
      }
    }
  }

  /// Returns the length of a file in bytes.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable`` if it is no regular file that
  ///   can be read.
  static func length(of file: URL) throws -> Int64 {
    let path = file.resolvingSymlinksInPath().path
    guard file.isFileURL, let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
      throw NetworkError(.bodyUnreadable, "the body file \(path) does not exist")
    }
    // Reading anything else, such as a pipe, might block every session of the process.
    guard attributes[.type] as? FileAttributeType == .typeRegular else {
      throw NetworkError(.bodyUnreadable, "the body file \(path) is not a regular file")
    }
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw NetworkError(.bodyUnreadable, "the body file \(path) must not be read by this user")
    }
    return (attributes[.size] as? NSNumber)?.int64Value ?? 0
  }

  private let url: URL
  private let file: OpenFile?

  /// Creates a sequence that opens the file when the first chunk is asked for.
  package init(_ url: URL) {
    self.url = url
    file = nil
  }

  /// Creates a sequence of a file that is opened now and read once.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable``.
  package init(opening url: URL) async throws {
    self.url = url
    file = try await OpenFile(url)
  }

  /// The number of bytes that the file had when it was opened; `nil` if it is not open.
  package var length: Int64? { file?.length }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let url: URL
    fileprivate var file: OpenFile?
    private var readCount: Int64 = 0

    fileprivate init(url: URL, file: OpenFile?) {
      self.url = url
      self.file = file
    }

    package mutating func next() async throws -> Data? {
      let open: OpenFile
      if let file { open = file } else { open = try await OpenFile(url) }
      file = open
      // Bytes that a writer appends meanwhile are beyond the announced length.
      let count = Int(Swift.min(FileChunks.chunkCount(open.length), open.length - readCount))
      guard count > 0 else { return nil }
      let data = try await FileQueue.run { [handle = open.handle] in try handle.read(upToCount: count) }
      guard let data, !data.isEmpty else { return nil }
      readCount += Int64(data.count)
      return data
    }
  }

  package func makeAsyncIterator() -> Iterator { Iterator(url: url, file: file) }
}
