public import Foundation

/// The requests in flight that others may join.
///
/// Behaviors, clients and per-request copies that use the same coalescer share its flights. A request still joins only
/// flights of its own client (``SharingKey``).
public final class Coalescer: Sendable {
  /// The outcome that a waiter gets.
  enum Outcome: Sendable {
    /// How the flight ended.
    case shared(Result<NetworkResponse, any Error>)
    /// The response is for one caller only. Every other caller sends its own request.
    case alone
  }

  /// One send for all callers that make the same request.
  final class Flight: Sendable {
    private struct State {
      var callers = WaitingCallers<Outcome>()
      /// The URLs of the requests, if the key has a name instead of one.
      var urls: Set<String> = []
      var isOver = false
    }

    let key: SharingKey
    let place: DetachedNext
    private let state = Locked(State())

    init(_ key: SharingKey, _ place: DetachedNext) {
      self.key = key
      self.place = place
      place.call.followDeadlines { [state] in state.withLock { $0.callers.deadline } }
    }

    /// Adds the caller of a request.
    ///
    /// - Returns: Its number, from 1; `nil` if the flight has ended or was abandoned.
    func join(_ request: NetworkRequest, _ waiter: Waiter<Outcome>) -> Int? {
      let url = key.url == nil ? request.url.normalizedText : nil
      return state.withLock { state in
        guard !state.isOver else { return nil }
        if let url { state.urls.insert(url) }
        return state.callers.add(request.call, waiter)
      }
    }

    /// Whether a request for a URL has begun or joined the flight.
    func serves(_ url: String) -> Bool { key.url.map { $0 == url } ?? state.withLock { $0.urls.contains(url) } }

    /// Removes a caller whose task was cancelled, unless it is to wait for the end of the flight.
    ///
    /// - Returns: The waiter of a caller that leaves, and whether the flight is to be cancelled.
    func leave(_ number: Int) -> (waiter: Waiter<Outcome>?, isAbandoned: Bool) {
      state.withLock { state in
        let waiter = state.callers.leave(number)
        let isAbandoned = !state.isOver && (waiter == nil || state.callers.isEmpty)
        if isAbandoned { state.isOver = true }
        return (waiter, isAbandoned)
      }
    }

    /// Gives the result to all waiters, or only to the first if it cannot be shared.
    func end(_ result: Result<NetworkResponse, any Error>) {
      let waiting = state.withLock { state in
        state.isOver = true
        return state.callers.removeAll()
      }
      let (knowsOwner, isForOne) = (place.knowsOwner, isForOne(result))
      var isTaken = false
      for (number, waiter) in waiting {
        // A response of an unknown owner is for the caller for which it was sent: the first.
        let mayTake = knowsOwner ? !isForOne || !isTaken : number == 1
        if waiter.settle(.success(mayTake ? .shared(result) : .alone)), mayTake { isTaken = true }
      }
      if !isTaken, case .success(let response) = result { response.body.cancel() }
    }

    /// Whether only one caller can have the result: a stream is read once, and a file has one owner.
    private func isForOne(_ result: Result<NetworkResponse, any Error>) -> Bool {
      guard case .success(let response) = result else { return false }
      if case .data = response.body { return false }
      return true
    }
  }

  private let flights = Locked<[SharingKey: Flight]>([:])

  /// Creates a coalescer without flights.
  public init() {}

  /// The number of requests in flight that others may join.
  public var flightCount: Int { flights.withLock { $0.count } }

  /// Makes later requests start new flights.
  ///
  /// The current flights still end for their waiters.
  public func reset() { flights.withLock { $0 = [:] } }

  /// Makes later requests for a URL start new flights, because the resource has changed.
  ///
  /// - Parameter url: The URL; its fragment does not matter.
  public func forget(_ url: URL) {
    let text = url.normalizedText
    flights.withLock { $0 = $0.filter { !$0.value.serves(text) } }
  }

  /// Makes later requests start new flights if their response would belong to an owner.
  func forget(scope: String) { flights.withLock { $0 = $0.filter { !$0.key.scopes.contains(scope) } } }

  /// Joins the flight of a key, or starts one.
  ///
  /// - Parameters:
  ///   - key: The key that the request shares with those that it may join.
  ///   - request: The request.
  ///   - waiter: The waiter for the outcome.
  ///   - makePlace: Makes the call in which a new flight runs.
  /// - Returns: The flight, the number of the waiter, and whether the flight is to be started.
  func join(
    _ key: SharingKey, _ request: NetworkRequest, _ waiter: Waiter<Outcome>, _ makePlace: () -> DetachedNext
  ) -> (flight: Flight, number: Int, isNew: Bool) {
    flights.withLock { flights in
      if let flight = flights[key], let number = flight.join(request, waiter) { return (flight, number, false) }
      let flight = Flight(key, makePlace())
      let number = flight.join(request, waiter) ?? 1
      flights[key] = flight
      return (flight, number, true)
    }
  }

  /// Sends the request for all waiters of a flight.
  func start(_ flight: Flight, _ request: NetworkRequest) {
    flight.place.start(request, isAwaited: true) { [weak self] result in
      self?.remove(flight)
      flight.end(result)
    }
  }

  /// Takes a caller whose task was cancelled out of a flight, which ends with its last one.
  ///
  /// If the deadlines of all its callers have passed, the flight is cancelled, and they wait for its end.
  func leave(_ flight: Flight, _ number: Int) {
    let (waiter, isAbandoned) = flight.leave(number)
    if isAbandoned {
      remove(flight)
      flight.place.cancel()
    }
    waiter?.settle(.failure(CancellationError()))
  }

  /// Removes a flight, so that no request joins it any more.
  func remove(_ flight: Flight) {
    flights.withLock { if $0[flight.key] === flight { $0[flight.key] = nil } }
  }
}

extension Coalescer: CustomStringConvertible, CustomReflectable {
  /// The number of requests in flight.
  public var description: String { "Coalescer(\(flightCount) in flight)" }

  /// A mirror with the description only, because requests in flight hold secrets.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
