public import Foundation
public import RequestBehaviors

/// A rule of a ``MockTransport``: the requests it matches and the responses it sends.
///
/// ```swift
/// mock.on(.get, "me").respond(503).times(2)
///   .respond(200, json: user).delayed(by: .seconds(1))
/// ```
///
/// Responses are sent in the order in which they are added: one for each request, and the last one again and again.
/// ``times(_:)`` limits how often the response before it is sent. After the last one has been sent that often, the stub
/// is used up, and requests go on to the next stub that matches.
public final class MockStub: Sendable {
  private struct State {
    var script = MockScript()
    var answered: [NetworkRequest] = []
  }

  private let matcher: MockMatcher
  private let encoder: any BodyEncoder
  private let state = Locked(State())

  init(_ matcher: MockMatcher, encoder: any BodyEncoder) {
    self.matcher = matcher
    self.encoder = encoder
  }

  /// The requests to which the stub responded, as they were sent.
  public var sent: [NetworkRequest] { state.withLock { $0.answered } }

  /// Adds a response of bytes.
  ///
  /// - Parameters:
  ///   - status: The status code; by default 200.
  ///   - headers: The header fields; none by default.
  ///   - body: The body; empty by default.
  /// - Returns: The stub.
  @discardableResult
  public func respond(_ status: Int = 200, headers: HeaderFields = [:], body: Data = Data()) -> MockStub {
    add(.response(status, headers, body))
  }

  /// Adds a response whose body is a value, encoded by the transport's encoder when the response is added.
  ///
  /// - Parameters:
  ///   - status: The status code; by default 200.
  ///   - value: The value; if it cannot be encoded, the requests fail with the code `encodingFailed`.
  ///   - headers: The header fields; by default only `Content-Type`, which is the encoder's unless it is set here.
  /// - Returns: The stub.
  @discardableResult
  public func respond(_ status: Int = 200, json value: some Encodable, headers: HeaderFields = [:]) -> MockStub {
    do {
      return respond(status, encoder.contentType, headers, try encoder.encode(value))
    } catch {
      return fail(
        NetworkError(
          .encodingFailed, "the value of the stub \(self), \(type(of: value)), could not be encoded: \(error)",
          underlyingError: error))
    }
  }

  /// Adds a response whose body is the given JSON text.
  ///
  /// - Parameters:
  ///   - status: The status code; by default 200.
  ///   - text: The JSON, sent unchanged.
  ///   - headers: The header fields; by default only `Content-Type`, which is `application/json` unless it is set here.
  /// - Returns: The stub.
  @discardableResult
  public func respond(_ status: Int = 200, jsonText text: String, headers: HeaderFields = [:]) -> MockStub {
    respond(status, "application/json", headers, Data(text.utf8))
  }

  /// A string would be encoded as one JSON string, which is hardly intended.
  @available(*, unavailable, message: "use jsonText: for a body that is JSON already")
  @discardableResult
  public func respond(_ status: Int = 200, json text: String, headers: HeaderFields = [:]) -> MockStub { self }

  /// Adds a response whose body is a text in UTF-8.
  ///
  /// - Parameters:
  ///   - status: The status code; by default 200.
  ///   - text: The text.
  ///   - headers: The header fields; by default only `Content-Type`, which is `text/plain` unless it is set here.
  /// - Returns: The stub.
  @discardableResult
  public func respond(_ status: Int = 200, text: String, headers: HeaderFields = [:]) -> MockStub {
    respond(status, "text/plain; charset=utf-8", headers, Data(text.utf8))
  }

  /// Adds a response that a closure makes.
  ///
  /// - Parameter makeResponse: Returns the response, or throws the request's error. It gets the request with its body
  ///   in memory. It may wait, and runs in a task that is cancelled with the request's.
  /// - Returns: The stub.
  @discardableResult
  public func respond(
    _ makeResponse: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse
  ) -> MockStub {
    add(.closure(makeResponse))
  }

  /// Adds a response whose body is a stream of chunks.
  ///
  /// - Parameters:
  ///   - chunks: The chunks, in order.
  ///   - status: The status code; by default 200.
  ///   - headers: The header fields; none by default.
  ///   - error: The error that the stream throws after the chunks; `nil`, for a normal end, by default.
  /// - Returns: The stub.
  @discardableResult
  public func stream(
    _ chunks: [Data], status: Int = 200, headers: HeaderFields = [:], failingWith error: (any Error)? = nil
  ) -> MockStub {
    let steps = chunks.map { MockStreamStep.chunk($0) } + (error.map { [.fail($0)] } ?? [])
    return add(.stream(status, headers, steps, trailers: nil))
  }

  /// Adds a response whose body is a stream of chunks, with waits on the call's clock and a failure if wanted.
  ///
  /// ```swift
  /// mock.on(.get, "export").stream(
  ///   "one", .wait(.seconds(5)), "two", trailers: ["X-Rows": "2"])
  /// ```
  ///
  /// A request that does not ask for a stream gets the body in memory when it is complete.
  ///
  /// - Parameters:
  ///   - steps: The chunks, waits and failures, in order; texts are chunks.
  ///   - status: The status code; by default 200.
  ///   - headers: The header fields; none by default.
  ///   - trailers: The fields after the body; none by default.
  /// - Returns: The stub.
  @discardableResult
  public func stream(
    _ steps: MockStreamStep..., status: Int = 200, headers: HeaderFields = [:], trailers: HeaderFields? = nil
  ) -> MockStub {
    stream(steps: steps, status: status, headers: headers, trailers: trailers)
  }

  /// Adds a response whose body is a stream of chunks, with waits and failures, from a list that is made at run time.
  ///
  /// - Parameters:
  ///   - steps: The chunks, waits and failures, in order.
  ///   - status: The status code; by default 200.
  ///   - headers: The header fields; none by default.
  ///   - trailers: The fields after the body; none by default.
  /// - Returns: The stub.
  @discardableResult
  public func stream(
    steps: [MockStreamStep], status: Int = 200, headers: HeaderFields = [:], trailers: HeaderFields? = nil
  ) -> MockStub {
    add(.stream(status, headers, steps, trailers: trailers))
  }

  /// Adds a failure of the transport.
  ///
  /// - Parameters:
  ///   - code: The code of the `NetworkError` that is thrown.
  ///   - message: Its message; by default a message with the name of the stub.
  /// - Returns: The stub.
  @discardableResult
  public func fail(_ code: NetworkError.Code, _ message: String? = nil) -> MockStub {
    fail(NetworkError(code, message ?? "the mock transport's stub \(self) fails with this code"))
  }

  /// Adds a failure of any kind.
  @discardableResult
  public func fail(_ error: any Error) -> MockStub { add(.failure(error)) }

  private func respond(_ status: Int, _ contentType: String, _ headers: HeaderFields, _ body: Data) -> MockStub {
    var headers = headers
    if !headers.contains("Content-Type") { headers[.contentType] = contentType }
    return respond(status, headers: headers, body: body)
  }

  private func add(_ kind: MockResponse.Kind) -> MockStub {
    state.withLock { $0.script.add(kind) }
    return self
  }
}

// MARK: - Modifiers

extension MockStub {
  /// Sets how often the response before it is sent.
  ///
  /// - Parameter count: The number of times; less than 1 means never. Before the first response it applies to that one.
  /// - Returns: The stub.
  @discardableResult
  public func times(_ count: Int) -> MockStub {
    state.withLock { $0.script.modifyLast { $0.limit = max(count, 0) } }
    return self
  }

  /// Delays the response before it on the call's clock, so that a ``ManualClock`` decides when it comes.
  ///
  /// If the request's `idleTimeout` or `timeout` is not longer than the delay, the request fails with the code
  /// `timedOut` when that time is over.
  ///
  /// - Parameter duration: The delay. Before the first response it applies to that one.
  /// - Returns: The stub.
  @discardableResult
  public func delayed(by duration: Duration) -> MockStub {
    state.withLock { $0.script.modifyLast { $0.delay = duration } }
    return self
  }

  /// Marks the stub as optional: ``MockTransport/verify()`` does not check whether it was used.
  @discardableResult
  public func optional() -> MockStub {
    state.withLock { $0.script.isOptional = true }
    return self
  }
}

// MARK: - Responding

extension MockStub {
  /// Returns the next response if the stub matches the request, otherwise the reason why it does not.
  func answer(to request: NetworkRequest) -> Result<MockResponse, MockMismatch> {
    if let mismatch = matcher.mismatch(with: request) { return .failure(mismatch) }
    return state.withLock { state in
      let answer = state.script.next()
      if case .success = answer { state.answered.append(request) }
      return answer
    }
  }

  /// The message of ``MockTransport/verify()`` about the stub; `nil` if there is no problem.
  var problem: String? { state.withLock { $0.script.problem }.map { "\(self): \($0)" } }
}

extension MockStub: CustomStringConvertible {
  /// The requests that the stub matches, such as `GET users/*?page=2`.
  public var description: String { matcher.description }
}
