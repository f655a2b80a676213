import Foundation
import RequestBehaviors

extension NetworkResponse {
  /// Reports the body to a progress; the chunks of a stream are reported as they are read.
  func counted(by progress: TransferProgress.Attempt?) -> NetworkResponse {
    guard let progress else { return self }
    var copy = self
    switch body {
    case .data(let data): progress.received(Int64(data.count), of: Int64(data.count))
    case .stream(let stream):
      // The length of an encoded body is another one than that of the chunks.
      let length = headers["Content-Encoding"] == nil ? headers["Content-Length"].flatMap { Int64($0) } : nil
      copy.body = .stream(stream.wrapped { CountedChunks(base: $0, progress: progress, length: length) })
    case .file: break
    }
    return copy
  }
}

/// The chunks of a stream, each reported to a progress when it is read.
private struct CountedChunks: AsyncSequence, Sendable {
  typealias Element = Data

  let base: ByteStream
  let progress: TransferProgress.Attempt
  /// The length of the whole; `nil` if it is not known.
  let length: Int64?

  struct Iterator: AsyncIteratorProtocol {
    var base: ByteStream.Iterator
    let progress: TransferProgress.Attempt
    let length: Int64?
    var count: Int64 = 0

    mutating func next() async throws -> Data? {
      guard let chunk = try await base.next() else { return nil }
      count += Int64(chunk.count)
      progress.received(count, of: length)
      return chunk
    }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(base: base.makeAsyncIterator(), progress: progress, length: length)
  }
}
