import Foundation
package import RequestBehaviors

/// Chunks that a test delivers one by one, and what became of their stream.
package final class ChunkSource: Sendable {
  private let chunks = AsyncThrowingStream<Data, any Error>.makeStream()
  private let cancellations = Box(0)
  private let cancellation = TestGate()
  private let trailers = Box<HeaderFields?>(nil)

  package init() {}

  /// How often the stream was cancelled.
  package var cancelCount: Int { cancellations.value }

  /// Waits until the stream is cancelled.
  package func isCancelled() async { await cancellation.pass() }

  /// The stream of the chunks.
  package var stream: ByteStream {
    let (continuation, cancellations, trailers, gate) = (chunks.continuation, cancellations, trailers, cancellation)
    return ByteStream(chunks.stream) {
      cancellations.update { $0 += 1 }
      continuation.finish()
      gate.open()
    } trailers: {
      trailers.value
    }
  }

  /// A transport that answers with the stream.
  package func transport(_ statusCode: Int = 200, _ headers: HeaderFields = [:]) -> ClosureTransport {
    ClosureTransport { [self] request in
      NetworkResponse(request: request, statusCode: statusCode, headers: headers, body: .stream(stream))
    }
  }

  package func send(_ text: String) { chunks.continuation.yield(Data(text.utf8)) }

  package func finish(_ error: (any Error)? = nil, trailers fields: HeaderFields? = nil) {
    trailers.value = fields
    chunks.continuation.finish(throwing: error)
  }
}

extension ByteStream {
  /// The chunks that are left, as texts.
  package func texts() async throws -> [String] {
    var texts: [String] = []
    for try await chunk in self { texts.append(String(decoding: chunk, as: UTF8.self)) }
    return texts
  }
}
