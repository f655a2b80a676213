import Foundation
import RequestBehaviors

extension CassetteTransport {
  /// Sends a request, and records its response as a stream, so that every entry has its chunks.
  func record(_ request: NetworkRequest, _ shown: NetworkRequest) async throws
    -> NetworkResponse
  {
    var streamed = shown
    streamed.options.delivery = .streamed
    let record = CassetteRecord(shown, redactor: redactor)
    state.withLock { $0.records.append(record) }
    var response: NetworkResponse
    do { response = try await live.send(streamed) } catch {
      record.end(error, trailers: nil, of: shown)
      throw error
    }
    record.note(response)
    response.request = request
    switch response.body {
    case .stream(let stream):
      response.body = .stream(stream.wrapped { RecordedChunks(base: $0, record: record) })
      if case .stream(let recorded) = response.body {
        recorded.onCompletion { record.end($0.error, trailers: $0.trailers, of: shown) }
      }
    case .data, .file:
      do {
        let data = try await response.buffered().data
        if !data.isEmpty { record.note(data) }
        record.end(nil, trailers: response.trailers, of: shown)
      } catch {
        record.end(error, trailers: nil, of: shown)
        throw error
      }
    }
    return request.options.delivery == .buffered ? try await response.buffered() : try open.watched(response)
  }
}

/// The chunks of a response that is being recorded.
private struct RecordedChunks: AsyncSequence, Sendable {
  typealias Element = Data
  let base: ByteStream
  let record: CassetteRecord

  struct Iterator: AsyncIteratorProtocol {
    var base: ByteStream.Iterator
    let record: CassetteRecord

    mutating func next() async throws -> Data? {
      guard let chunk = try await base.next() else { return nil }
      record.note(chunk)
      return chunk
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), record: record) }
}
