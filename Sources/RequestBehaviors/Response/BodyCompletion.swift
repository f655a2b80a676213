import Foundation

/// How the body of a response ended: facts only, so that whoever keeps it keeps no body.
///
/// ```swift
/// let completion = try await response.completion
/// print(completion.byteCount, completion.trailers?["Digest"] ?? "-")
/// ```
public struct BodyCompletion: Sendable {
  /// How many bytes were delivered to the reader.
  public let byteCount: Int64
  /// When the body ended, on the call's clock.
  public let endedAt: Duration
  /// The fields that came after the body (RFC 9110 §6.5); `nil` if there were none, the transport drops them, or the body
  /// did not come to its end.
  public let trailers: HeaderFields?
  /// What the body ended with; `nil` if it was read to its end.
  ///
  /// It is a `CancellationError` for a body that was cancelled or dropped.
  public let error: (any Error)?

  /// Creates a completion.
  public init(byteCount: Int64, endedAt: Duration, trailers: HeaderFields? = nil, error: (any Error)? = nil) {
    self.byteCount = byteCount
    self.endedAt = endedAt
    self.trailers = trailers
    self.error = error
  }
}

// MARK: - The body of a response in chunks

extension NetworkResponse {
  /// The chunks of the body, whatever kind of body it is.
  ///
  /// A streamed body is read once, and is cancelled by whatever ends a ``ByteStream`` early. Bytes in memory and files can
  /// be read again.
  public var bytes: ByteStream {
    switch body {
    case .data(let data): return ByteStream(chunks: data.isEmpty ? [] : [data])
    case .file(let url):
      let stream = ByteStream(FileChunks(url))
      stream.source.follow(request.call.clock)
      return stream
    case .stream(let stream): return stream
    }
  }

  /// How the body ended, once it has.
  ///
  /// A body in memory has ended. That of a streamed one is waited for; it ends when somebody reads it to its end, when it
  /// fails, and when it is cancelled or dropped.
  ///
  /// - Throws: `CancellationError` if the task that waits is cancelled.
  public var completion: BodyCompletion {
    get async throws {
      guard case .stream(let stream) = body else { return settledCompletion }
      return try await stream.completion
    }
  }

  /// Calls a closure once, when the body has ended; at once for one that is no stream.
  ///
  /// For a behavior that holds something for as long as a response is received:
  ///
  /// ```swift
  /// let response = try await next(request)
  /// response.onCompletion { _ in counter.decrement() }
  /// return response
  /// ```
  ///
  /// - Parameter note: Gets how it ended; it must not block. It must not hold the response: whoever drops the body cancels
  ///   it.
  public func onCompletion(_ note: @escaping @Sendable (BodyCompletion) -> Void) {
    guard case .stream(let stream) = body else { return note(settledCompletion) }
    stream.onCompletion(note)
  }

  /// The completion of a body that is no stream; the length of a file is not looked up.
  private var settledCompletion: BodyCompletion {
    var count = 0
    if case .data(let data) = body { count = data.count }
    return BodyCompletion(byteCount: Int64(count), endedAt: timings.latest, trailers: trailers)
  }

  /// The response without its body, for what must not keep that alive.
  var withoutStream: NetworkResponse {
    guard case .stream = body else { return self }
    var head = self
    head.body = .empty
    return head
  }
}

// MARK: - Cut bodies

private enum IsBodyCut: ResponseInfoKey { typealias Value = Bool }

extension NetworkResponse {
  /// Whether the body is only the beginning of what the server sent.
  ///
  /// Of a streamed response whose status the call does not accept, the client keeps the first 64 KiB, for the behaviors and
  /// the error.
  public internal(set) var isBodyCut: Bool {
    get { info[IsBodyCut.self] ?? false }
    set { info[IsBodyCut.self] = newValue ? true : nil }
  }

  /// Returns the response with the first 64 KiB of its body in memory, for an error; the rest is not received.
  ///
  /// - Returns: The response, marked if there was more.
  /// - Throws: What the stream throws.
  func excerpt() async throws -> NetworkResponse {
    guard case .stream(let stream) = body else { return self }
    let limit = 64 * 1_024
    var data = Data()
    var copy = self
    for try await chunk in stream {
      let room = limit - data.count
      data.append(chunk.prefix(room))
      if chunk.count > room {
        copy.isBodyCut = true
        break
      }
    }
    copy.settle(.data(data), stream.source.completion)
    return copy
  }

  /// Puts what was read of a stream in its place.
  mutating func settle(_ body: ResponseBody, _ completion: BodyCompletion?) {
    self.body = body
    guard let completion else { return }
    timings.lastByte = completion.endedAt
    if let trailers = completion.trailers { self.trailers = trailers }
  }
}
