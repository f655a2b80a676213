import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport

/// Responds to requests with bodies of chunks, one after the other, and counts those that were cancelled.
final class StreamFixture: Sendable {
  /// A body and its head.
  struct Reply: Sendable {
    var status = 200
    var headers: HeaderFields = ["Content-Type": "text/event-stream"]
    var chunks: [String] = []
    /// What the body ends with; `nil` for its end.
    var error: NetworkError.Code?
    /// Whether it never ends.
    var isOpen = false

    init(_ chunks: String..., error: NetworkError.Code? = nil, isOpen: Bool = false) {
      self.chunks = chunks
      self.error = error
      self.isOpen = isOpen
    }

    func with(status: Int = 200, headers: HeaderFields) -> Reply {
      var reply = self
      reply.status = status
      reply.headers = headers
      return reply
    }
  }

  let replies: Box<[Reply]>
  let requests = Box<[NetworkRequest]>([])
  let cancellations = Box(0)
  let clock = ManualClock()

  init(_ replies: Reply...) { self.replies = Box(replies) }

  func client(_ behaviors: [any RequestBehavior] = []) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: ClosureTransport { [self] in try respond(to: $0) })
  }

  private func respond(to request: NetworkRequest) throws -> NetworkResponse {
    requests.update { $0.append(request) }
    guard let reply = replies.update({ $0.isEmpty ? nil : $0.removeFirst() }) else {
      throw NetworkError(.cannotConnect, "the test has no further reply")
    }
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
    for chunk in reply.chunks { continuation.yield(Data(chunk.utf8)) }
    if !reply.isOpen { continuation.finish(throwing: reply.error.map { NetworkError($0, "the test's body fails") }) }
    let body = ByteStream(
      stream,
      onCancel: { [cancellations] in
        cancellations.update { $0 += 1 }
        continuation.finish()
      })
    return NetworkResponse(
      request: request, statusCode: reply.status, headers: reply.headers, body: .stream(body))
  }
}

extension AsyncSequence where Element: Sendable {
  /// All elements.
  func all() async throws -> [Element] {
    var elements: [Element] = []
    for try await element in self { elements.append(element) }
    return elements
  }
}
