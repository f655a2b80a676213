import Foundation
import RequestBehaviors

/// The sends of a test transport that have not ended; its shutdown ends them.
final class OpenSends: Sendable {
  /// A streamed response whose body has not ended.
  private struct OpenStream {
    let request: NetworkRequest
    let canceller: ByteStream.Canceller
  }

  private struct State {
    var lastNumber = 0
    /// End what waits: responses, and bodies of requests.
    var endings: [Int: @Sendable (NetworkError) -> Void] = [:]
    var streams: [Int: OpenStream] = [:]
    var isShutDown = false
  }

  private let shutDownError: NetworkError
  private let state = Locked(State())

  /// Creates the sends of a transport.
  ///
  /// - Parameter message: The message of the error with which a shutdown ends them.
  init(endedWith message: String) { shutDownError = NetworkError(.clientShutDown, message) }

  /// The requests whose streamed response has not ended, in the order in which they were sent.
  var streamedRequests: [NetworkRequest] {
    state.withLock { $0.streams.sorted { $0.key < $1.key }.map(\.value.request) }
  }

  /// Throws ``NetworkError`` of code `clientShutDown` after the shutdown.
  func checkIsRunning() throws {
    if state.withLock({ $0.isShutDown }) { throw shutDownError }
  }

  /// Returns the request with the bytes of its body, which are no longer read after the shutdown.
  func withBodyInMemory(_ request: NetworkRequest, sentAt start: Duration) async throws -> NetworkRequest {
    guard let body = request.body, body.data == nil else { return request }
    let reading = PendingResult<NetworkRequest>()
    let number = try enter(reading)
    defer { leave(number) }
    return try await request.withBodyInMemory(sentAt: start, endedBy: reading)
  }

  /// Returns a response that may take time, unless the shutdown comes first.
  func response(_ work: @escaping @Sendable () async throws -> NetworkResponse) async throws -> NetworkResponse {
    let pending = PendingResult<NetworkResponse>(dispose: { $0.body.cancel() })
    let number = try enter(pending)
    defer { leave(number) }
    return try await pending.run(work)
  }

  /// Returns a response whose streamed body ends with the shutdown.
  ///
  /// Until its body has ended, the response counts as open; it is not retained.
  ///
  /// - Throws: ``NetworkError`` of code `clientShutDown` if the shutdown came first.
  func watched(_ response: NetworkResponse) throws -> NetworkResponse {
    guard case .stream(let stream) = response.body else {
      try checkIsRunning()
      return response
    }
    let open = OpenStream(request: response.request, canceller: stream.canceller)
    let number = state.withLock { state -> Int? in
      guard !state.isShutDown else { return nil }
      state.lastNumber += 1
      state.streams[state.lastNumber] = open
      return state.lastNumber
    }
    guard let number else {
      stream.cancel(throwing: shutDownError)
      throw shutDownError
    }
    stream.onCompletion { [weak self] _ in
      self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
    }
    return response
  }

  /// Ends all sends, in the order in which they began; later ones fail.
  func shutdown() {
    let (endings, streams) = state.withLock { state in
      state.isShutDown = true
      return (
        state.endings.sorted { $0.key < $1.key }.map(\.value),
        state.streams.sorted { $0.key < $1.key }.map(\.value.canceller)
      )
    }
    for end in endings { end(shutDownError) }
    for stream in streams { stream.cancel(throwing: shutDownError) }
  }

  private func enter<Value>(_ pending: PendingResult<Value>) throws -> Int {
    try state.withLock { state in
      if state.isShutDown { throw shutDownError }
      state.lastNumber += 1
      state.endings[state.lastNumber] = { pending.end(.failure($0)) }
      return state.lastNumber
    }
  }

  private func leave(_ number: Int) { state.withLock { _ = $0.endings.removeValue(forKey: number) } }
}
