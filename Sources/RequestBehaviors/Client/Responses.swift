/// The outcomes of many requests, in the order in which they end.
///
/// ```swift
/// let requests = logins.map { Request<User>.get("users/\($0)") }
/// for try await outcome in client.responses(to: requests, atMost: 16) {
///   switch outcome.result {
///   case .success(let response): save(response.value)
///   case .failure(let error): print(logins[outcome.index], error)
///   }
/// }
/// ```
///
/// Each request has one outcome and is a call of its own, with its retries and tokens; a failure does not end the
/// others. A request is taken from the list and sent when fewer than the maximum number are under way or have an
/// outcome that is not read yet. So a slow loop holds back the requests, and the list may be of any length: a lazy one
/// is read as it is needed.
///
/// Leaving the loop cancels the requests under way, and so does cancelling the task that reads, which then throws a
/// `CancellationError`. Iterating again sends all requests anew.
public struct Responses<Value: Sendable>: AsyncSequence {
  /// An outcome of a request.
  public typealias Element = RequestOutcome<Value>

  typealias Performer = @Sendable (Request<Value>) async throws -> Response<Value>

  let client: NetworkClient
  let requests: any Sequence<Request<Value>>
  /// The actor of the code that listed the requests, where a lazy list makes them; `nil` for other code.
  let actor: (any Actor)?
  let limit: Int
  let deadline: Duration?
  let perform: Performer

  /// Creates the iterator; the first requests are sent when the first outcome is asked for.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Delivers the outcomes.
  public struct Iterator: AsyncIteratorProtocol {
    private let requests: RequestsToSend<Value>
    private let limit: Int
    private let owner: Owner
    private var count = 0
    private var hasMore = true

    fileprivate init(_ responses: Responses) {
      requests = RequestsToSend(responses.requests, on: responses.actor)
      limit = responses.limit < 1 ? 1 : responses.limit
      owner = Owner(RequestsUnderWay(responses.client, responses.deadline, responses.perform))
    }

    /// Returns the next outcome; `nil` after the last one.
    ///
    /// - Throws: `CancellationError` if the task is cancelled. There are no more outcomes then.
    public mutating func next() async throws -> RequestOutcome<Value>? {
      let underWay = owner.underWay
      do {
        try Task.checkCancellation()
        while hasMore, underWay.count < limit {
          guard let request = await requests.next() else {
            hasMore = false
            break
          }
          underWay.start(request, count)
          count += 1
        }
        if let outcome = try await underWay.next() { return outcome }
        underWay.end()
        return nil
      } catch {
        // The task was cancelled.
        hasMore = false
        underWay.end()
        throw error
      }
    }

    /// Cancels the requests under way when the iterator is dropped.
    private final class Owner: Sendable {
      let underWay: RequestsUnderWay<Value>
      init(_ underWay: RequestsUnderWay<Value>) { self.underWay = underWay }
      deinit { underWay.end() }
    }
  }
}

extension NetworkClient {
  /// Sends many requests, a limited number at a time, and returns their outcomes as they end.
  ///
  /// ```swift
  /// let requests = logins.map { Request<User>.get("users/\($0)") }
  /// for try await outcome in client.responses(to: requests, atMost: 16) {
  ///   save(try outcome.value)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - requests: The requests; they are taken one after the other as others end, on the caller's actor.
  ///   - limit: The number of requests that may be under way, or have ended and are not read yet; at least one.
  ///   - deadline: The time in which all of them must end, from the first one on. Then those under way are cancelled
  ///     and the others are not sent. Each has an error of code ``NetworkError/Code-swift.struct/deadlineExceeded``. By
  ///     default there is no such time.
  ///   - isolation: The actor on which a lazy list makes its requests; by default the caller's.
  /// - Returns: The outcomes.
  public func responses<Value: Decodable & Sendable>(
    to requests: some Sequence<Request<Value>>, atMost limit: Int, deadline: Duration? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) -> Responses<Value> {
    responses(to: requests, limit, deadline, isolation) { try await self.originalResponse(for: $0) }
  }

  /// Sends many requests, a limited number at a time, and returns their responses as they end; see
  /// ``Responses``.
  public func responses(
    to requests: some Sequence<Request<NetworkResponse>>, atMost limit: Int, deadline: Duration? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) -> Responses<NetworkResponse> {
    responses(to: requests, limit, deadline, isolation) { request in
      let response = try await self.originalSend(request)
      return Response(value: response, http: response)
    }
  }

  /// Sends many requests, a limited number at a time, and drops the bodies of their responses; see
  /// ``Responses``.
  public func responses(
    to requests: some Sequence<Request<Void>>, atMost limit: Int, deadline: Duration? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) -> Responses<Void> {
    responses(to: requests, limit, deadline, isolation) { request in
      Response(value: (), http: try await self.originalSend(request))
    }
  }

  private func responses<Value: Sendable>(
    to requests: some Sequence<Request<Value>>, _ limit: Int, _ deadline: Duration?, _ actor: (any Actor)?,
    _ perform: @escaping Responses<Value>.Performer
  ) -> Responses<Value> {
    Responses(
      client: self, requests: requests, actor: actor, limit: limit, deadline: deadline, perform: perform)
  }
}

/// The requests of a list that are not sent yet.
///
/// The closures of a lazy list belong to the actor of the code that wrote them, but a loop may ask for the next outcome
/// from elsewhere, so each request is made on that actor.
// Unchecked, because one iterator uses it, always on the same actor.
private final class RequestsToSend<Value: Sendable>: @unchecked Sendable {
  private let list: any Sequence<Request<Value>>
  private let actor: (any Actor)?
  private var iterator: AnyIterator<Request<Value>>?

  init(_ list: any Sequence<Request<Value>>, on actor: (any Actor)?) {
    self.list = list
    self.actor = actor
  }

  /// Makes the next request; `nil` at the end of the list.
  func next() async -> Request<Value>? { await next(on: actor) }

  private func next(on actor: isolated (any Actor)?) -> Request<Value>? {
    let rest = iterator ?? AnyIterator(opening: list)
    iterator = rest
    return rest.next()
  }
}

extension AnyIterator {
  /// Begins a list whose type is not known.
  fileprivate init(opening list: some Sequence<Element>) { self.init(list.makeIterator()) }
}

/// The requests of one iteration: those under way, and the outcomes that are not read yet.
final class RequestsUnderWay<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var tasks: [Int: Task<Void, Never>] = [:]
    var ready = Line<RequestOutcome<Value>>()
    var reader: Waiter<Void>?
    var timer: RequestClock.Timer?
    var isLate = false
    var hasEnded = false
  }

  private let client: NetworkClient
  private let deadline: Duration?
  private let perform: Responses<Value>.Performer
  private let state = Locked(State())

  init(_ client: NetworkClient, _ deadline: Duration?, _ perform: @escaping Responses<Value>.Performer) {
    self.client = client
    self.deadline = deadline
    self.perform = perform
  }

  /// The number of requests that are under way or have an outcome that is not read.
  var count: Int { state.withLock { $0.tasks.count + $0.ready.count } }

  /// Sends a request, unless the time for all of them is over.
  func start(_ request: Request<Value>, _ index: Int) {
    if index == 0, let deadline { startTimer(deadline) }
    // Under the lock, so that a task that ends at once finds its entry, and the end of the time finds the task.
    let isLate = state.withLock { state in
      guard !state.isLate else { return true }
      state.tasks[index] = Task { @concurrent in
        let result: Result<Response<Value>, any Error>
        do { result = .success(try await self.perform(request)) } catch { result = .failure(error) }
        self.finish(request, index, result)
      }
      return false
    }
    guard isLate else { return }
    client.abandon(request)
    finish(request, index, .failure(lateError.unsent))
  }

  /// Waits for an outcome; `nil` if no request is under way.
  func next() async throws -> RequestOutcome<Value>? {
    while true {
      let (outcome, reader) = state.withLock { state -> (RequestOutcome<Value>?, Waiter<Void>?) in
        if let first = state.ready.popFirst() { return (first, nil) }
        guard !state.tasks.isEmpty else { return (nil, nil) }
        let reader = Waiter<Void>()
        state.reader = reader
        return (nil, reader)
      }
      guard let reader else { return outcome }
      try await reader.value()
    }
  }

  /// Cancels the requests under way and drops the outcomes.
  func end() {
    let (tasks, timer) = state.withLock { state in
      state.hasEnded = true
      defer { (state.tasks, state.ready, state.timer) = ([:], Line(), nil) }
      return (state.tasks.values, state.timer)
    }
    timer?.cancel()
    for task in tasks { task.cancel() }
  }

  private func finish(_ request: Request<Value>, _ index: Int, _ result: Result<Response<Value>, any Error>) {
    let (isLate, hasEnded) = state.withLock { ($0.isLate, $0.hasEnded) }
    if hasEnded { return }
    let mapping = client.errorMapping(of: request)
    let settled: Result<Response<Value>, any Error> =
      switch result {
      case .success(let response): .success(response.leaving(with: mapping))
      // Only the time for all cancels a request whose outcome is wanted.
      case .failure(let error): .failure(mapping(isLate && error is CancellationError ? lateError : error))
      }
    let reader = state.withLock { state -> Waiter<Void>? in
      guard !state.hasEnded else { return nil }
      state.tasks[index] = nil
      state.ready.append(RequestOutcome(index: index, request: request, result: settled))
      defer { state.reader = nil }
      return state.reader
    }
    reader?.settle(.success(()))
  }

  // MARK: - The time for all

  private func startTimer(_ deadline: Duration) {
    // The timer must not keep the requests alive after the loop was left.
    let timer = client.configuration.clock.schedule(after: deadline) { [weak self] in self?.endLate() }
    state.withLock { $0.timer = timer }
  }

  private func endLate() {
    let tasks = state.withLock { state in
      state.isLate = true
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
  }

  private var lateError: NetworkError {
    NetworkError(
      .deadlineExceeded, "the requests took longer than \((deadline ?? .zero).inWords), the deadline for all of them")
  }
}
