import Foundation

/// How the body of a response ended: facts only, so that keeping them keeps no body alive.
///
/// ```swift
/// let completion = try await response.completion
/// print(completion.byteCount, completion.trailers?["Digest"] ?? "-")
/// ```
public struct BodyCompletion: Sendable {
  /// The number of bytes that were delivered to the reader.
  public let byteCount: Int64
  /// The time at which the body ended, on the call's clock.
  public let endedAt: Duration
  /// The fields that came after the body (RFC 9110 §6.5).
  ///
  /// It is `nil` if there were no such fields, if the transport drops them, or if the body was not read to its end.
  public let trailers: HeaderFields?
  /// The error that the body ended with; `nil` if it was read to its end.
  ///
  /// The error is a `CancellationError` if the body was cancelled or dropped. No ``ErrorMapper`` has replaced it.
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
  /// The chunks of the body, for every kind of body.
  ///
  /// A streamed body is read once; ending the ``ByteStream`` early cancels it. Bytes in memory and files can be read
  /// again.
  public var bytes: ByteStream {
    switch body {
    case .data(let data): return ByteStream(chunks: data.isEmpty ? [] : [data])
    case .file(let url):
      let stream = ByteStream(FileChunks(url))
      stream.source.follow(request.call.clock)
      return stream.mappingErrors(with: errorMapping?.replacement)
    case .stream(let stream): return stream
    }
  }

  /// How the body ended.
  ///
  /// A body in memory has ended already. For a streamed body the property waits until the body is read to its end,
  /// fails, is cancelled or is dropped.
  ///
  /// - Throws: `CancellationError` if the waiting task is cancelled.
  public var completion: BodyCompletion {
    get async throws {
      guard case .stream(let stream) = body else { return settledCompletion }
      return try await stream.completion
    }
  }

  /// Calls a closure once when the body has ended; at once if the body is not a stream.
  ///
  /// A behavior uses it to hold something for as long as the response is being received:
  ///
  /// ```swift
  /// let response = try await next(request)
  /// response.onCompletion { _ in counter.decrement() }
  /// return response
  /// ```
  ///
  /// - Parameter note: Receives how the body ended. It must not block. It must not hold the response, because a stream
  ///   is cancelled only when the last reference to it is dropped.
  public func onCompletion(_ note: @escaping @Sendable (BodyCompletion) -> Void) {
    guard case .stream(let stream) = body else { return note(settledCompletion) }
    stream.onCompletion(note)
  }

  /// The completion of a body that is not a stream; the length of a file is not read.
  private var settledCompletion: BodyCompletion {
    var count = 0
    if case .data(let data) = body { count = data.count }
    return BodyCompletion(byteCount: Int64(count), endedAt: timings.latest, trailers: trailers)
  }

  /// The response without its stream, for a copy that must not keep the stream alive.
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
  /// If the call does not accept the status of a streamed response, the client keeps only the first 64 KiB of the body,
  /// for the behaviors and the error.
  public internal(set) var isBodyCut: Bool {
    get { info[IsBodyCut.self] ?? false }
    set { info[IsBodyCut.self] = newValue ? true : nil }
  }

  /// Returns the response with the first 64 KiB of its body in memory, for an error; the rest is not received.
  ///
  /// - Parameter time: How long the body is waited for, on the clock of the call; by default as long as it takes. With
  ///   a time, an error of the stream cuts the body too.
  /// - Returns: The response, with ``isBodyCut`` set if there was more.
  /// - Throws: The error of the stream; `CancellationError` if the task is cancelled.
  func excerpt(within time: Duration? = nil) async throws -> NetworkResponse {
    guard case .stream(let stream) = body else { return self }
    let timer = time.map { [canceller = stream.canceller] in
      request.call.clock.schedule(after: $0) { canceller.cancel() }
    }
    defer { timer?.cancel() }
    let limit = 64 * 1_024
    var data = Data()
    var copy = self
    do {
      for try await chunk in stream {
        let room = limit - data.count
        data.append(chunk.prefix(room))
        if chunk.count > room {
          copy.isBodyCut = true
          break
        }
      }
    } catch {
      guard time != nil, !Task.isCancelled else { throw error }
      copy.isBodyCut = true
    }
    copy.settle(.data(data), stream.source.completion)
    return copy
  }

  /// Replaces the stream by the bytes that were read, with the time and the trailers at its end.
  mutating func settle(_ body: ResponseBody, _ completion: BodyCompletion?) {
    self.body = body
    guard let completion else { return }
    timings.lastByte = completion.endedAt
    if let trailers = completion.trailers { self.trailers = trailers }
  }
}
