import Dispatch
package import Foundation

/// The bytes of a file, read on a queue of their own: reading may block.
package struct FileChunks: AsyncSequence, Sendable {
  package typealias Element = Data

  private static let queue = DispatchQueue(label: "RequestBehaviors.FileChunks", attributes: .concurrent)
  private static let chunkCount = 256 * 1_024

  /// The number of bytes that the file had when it was opened.
  package let length: Int64
  private let handle: FileHandle

  /// Opens a file.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable``.
  package init(_ url: URL) async throws {
    (length, handle) = try await FileChunks.run {
      let length = try RequestBody.length(ofFile: url)
      do {
        return (length, try FileHandle(forReadingFrom: url))
      } catch {
        throw NetworkError(.bodyUnreadable, "the body file \(url.path) could not be opened", underlyingError: error)
      }
    }
  }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let handle: FileHandle

    package func next() async throws -> Data? {
      let data = try await FileChunks.run { [handle] in try handle.read(upToCount: FileChunks.chunkCount) }
      return data?.isEmpty == false ? data : nil
    }
  }

  package func makeAsyncIterator() -> Iterator { Iterator(handle: handle) }

  private static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work() }) }
    }
  }
}
