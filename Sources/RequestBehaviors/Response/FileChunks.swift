package import Foundation

/// The bytes that a file has when it is opened, or when its length was taken, or a part of them.
///
/// They are read on a queue of their own, because reading may block.
package struct FileChunks: AsyncSequence, Sendable {
  package typealias Element = Data

  /// Returns how many bytes are read at once.
  ///
  /// A long file is read in larger chunks, because each chunk costs changes of thread.
  private static func chunkCount(_ length: Int64) -> Int64 { Swift.min(Swift.max(length / 16, 256 * 1_024), 1 << 20) }

  /// The facts of a file that can be sent.
  private struct Facts: Sendable {
    let length: Int64
    /// The numbers of the file and of its device.
    let identity: [UInt64?]

    /// Takes the facts of a file.
    ///
    /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable`` if it is no regular file
    ///   that can be read.
    init(of file: URL) throws {
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
      length = (attributes[.size] as? NSNumber)?.int64Value ?? 0
      identity = [attributes[.systemNumber], attributes[.systemFileNumber]].map { ($0 as? NSNumber)?.uint64Value }
    }
  }

  /// An open file.
  private struct OpenFile: Sendable {
    let length: Int64
    let handle: FileHandle

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - range: The bytes that are read; `nil` for all.
    ///   - expected: The facts that were taken before; `nil` if they were not.
    /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable``.
    init(_ url: URL, _ range: Range<Int64>?, _ expected: Facts?) async throws {
      (length, handle) = try await FileQueue.read {
        let facts = try Facts(of: url)
        // A file that has grown still begins with the announced bytes. Another file of the same length is sent as this
        // one: an editor that saves a file replaces it.
        if let expected, facts.length != expected.length, facts.identity != expected.identity {
          throw NetworkError(
            .bodyUnreadable, "another file took the place of the body file \(url.path) before it was sent")
        }
        if let range, range.lowerBound < 0 || range.upperBound > facts.length {
          throw NetworkError(
            .bodyUnreadable, "the body file \(url.path) has \(facts.length) bytes, but bytes \(range) were to be sent")
        }
        do {
          let handle = try FileHandle(forReadingFrom: url)
          if let range { try handle.seek(toOffset: UInt64(range.lowerBound)) }
          return (range.map { $0.upperBound - $0.lowerBound } ?? expected?.length ?? facts.length, handle)
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
  static func length(of file: URL) throws -> Int64 { try Facts(of: file).length }

  private let url: URL
  private let range: Range<Int64>?
  private let facts: Facts?

  /// Creates a sequence that opens the file when the first chunk is asked for.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - range: The bytes of it, counted from 0; by default all. Reading fails if the file does not have all of them.
  package init(_ url: URL, range: Range<Int64>? = nil) {
    self.url = url
    self.range = range
    facts = nil
  }

  /// Creates a sequence of as many bytes as the file has now.
  ///
  /// The file is opened when the first chunk is asked for, so that many sequences may wait without an open file each.
  /// Measuring may block.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable`` if it is no regular file that
  ///   can be read.
  package init(measuring url: URL) throws {
    self.url = url
    range = nil
    facts = try Facts(of: url)
  }

  /// The number of bytes that the file had when it was measured; `nil` if it was not.
  package var length: Int64? { facts?.length }

  package struct Iterator: AsyncIteratorProtocol {
    private let url: URL
    private let range: Range<Int64>?
    private let facts: Facts?
    private var file: OpenFile?
    private var readCount: Int64 = 0

    fileprivate init(_ chunks: FileChunks) {
      url = chunks.url
      range = chunks.range
      facts = chunks.facts
    }

    package mutating func next() async throws -> Data? {
      let open: OpenFile
      if let file { open = file } else { open = try await OpenFile(url, range, facts) }
      file = open
      // Bytes that a writer appends meanwhile are beyond the announced length.
      let count = Int(Swift.min(FileChunks.chunkCount(open.length), open.length - readCount))
      guard count > 0 else { return nil }
      let data = try await FileQueue.read { [handle = open.handle] in try handle.read(upToCount: count) }
      guard let data, !data.isEmpty else { return nil }
      readCount += Int64(data.count)
      return data
    }
  }

  package func makeAsyncIterator() -> Iterator { Iterator(self) }
}
