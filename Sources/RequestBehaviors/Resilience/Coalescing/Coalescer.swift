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
  final class Flight: AwaitedWork {
    private struct State {
      var callers = WaitingCallers<Outcome>()
      /// The URLs of the requests, if the key has a name instead of one.
      var urls: Set<String> = []
      /// Whether no request may join: the flight has ended, or no caller wants its outcome.
      var isClosed = false
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
      state.withLock { $0.isClosed ? nil : $0.callers.add(request.call, waiter) }
    }

    /// The URLs of the requests that began or joined the flight, if the key has a name.
    var urls: Set<String> { state.withLock { $0.urls } }

    /// Whether the flight has ended; false for one that was abandoned, whose callers may wait for its end.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Records the URL of a request.
    ///
    /// - Returns: The URL; `nil` if it is recorded already.
    func note(_ request: NetworkRequest) -> String? {
      let url = request.url.normalizedText
      return state.withLock { $0.urls.insert(url).inserted ? url : nil }
    }

    /// Removes a caller whose task was cancelled, unless it is to wait for the end of the flight.
    ///
    /// - Returns: The waiter of a caller that leaves, and whether the flight is to be cancelled.
    func leave(_ number: Int) -> (waiter: Waiter<Outcome>?, isAbandoned: Bool) {
      state.withLock { state in
        let waiter = state.callers.leave(number)
        let isAbandoned = !state.isClosed && (waiter == nil || state.callers.isEmpty)
        if isAbandoned { state.isClosed = true }
        return (waiter, isAbandoned)
      }
    }

    /// Gives the result to all waiters, or only to the first if it cannot be shared.
    func end(_ result: Result<NetworkResponse, any Error>) {
      let waiting = state.withLock { state in
        (state.isClosed, state.isOver) = (true, true)
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

  /// The flights that requests may join, by their keys and by their URLs.
  private struct Flights: Sendable {
    private(set) var byKey: [SharingKey: Flight] = [:]
    /// The latest flight of each URL.
    private var latest: [String: Flight] = [:]
    /// The other flights of each URL: most URLs have one flight only.
    private var others: [String: [ObjectIdentifier: Flight]] = [:]

    mutating func insert(_ flight: Flight) {
      if let old = byKey.updateValue(flight, forKey: flight.key) { removeURLs(of: old) }
      if let url = flight.key.url { insert(flight, of: url) }
    }

    /// Records the URL of a request that began or joined a flight, if the flight's key has none.
    mutating func note(_ request: NetworkRequest, of flight: Flight) {
      if flight.key.url == nil, let url = flight.note(request) { insert(flight, of: url) }
    }

    private mutating func insert(_ flight: Flight, of url: String) {
      guard let other = latest.updateValue(flight, forKey: url) else { return }
      others[url, default: [:]][ObjectIdentifier(other)] = other
    }

    mutating func remove(_ flight: Flight) {
      guard let place = byKey.index(forKey: flight.key), byKey.values[place] === flight else { return }
      byKey.remove(at: place)
      removeURLs(of: flight)
    }

    private mutating func removeURLs(of flight: Flight) {
      if let url = flight.key.url { return remove(flight, of: url) }
      for url in flight.urls { remove(flight, of: url) }
    }

    private mutating func remove(_ flight: Flight, of url: String) {
      if let place = latest.index(forKey: url), latest.values[place] === flight {
        latest.remove(at: place)
      } else if others[url]?.removeValue(forKey: ObjectIdentifier(flight)) != nil, others[url]?.isEmpty == true {
        others[url] = nil
      }
    }

    mutating func remove(url: String) {
      if let flight = latest[url] { remove(flight) }
      for flight in (others[url] ?? [:]).values { remove(flight) }
    }
  }

  private let flights = Locked(Flights())

  /// Creates a coalescer without flights.
  public init() {}

  /// The number of requests in flight that others may join.
  public var flightCount: Int { flights.withLock { $0.byKey.count } }

  /// Makes later requests start new flights.
  ///
  /// The current flights still end for their waiters.
  public func reset() { flights.withLock { $0 = Flights() } }

  /// Makes later requests for a URL start new flights, because the resource has changed.
  ///
  /// - Parameter url: The URL; its fragment does not matter.
  public func forget(_ url: URL) {
    let text = url.normalizedText
    flights.withLock { $0.remove(url: text) }
  }

  /// Makes later requests start new flights if their response would belong to an owner.
  func forget(scope: String) {
    flights.withLock { flights in
      for (key, flight) in flights.byKey where key.scopes.contains(scope) { flights.remove(flight) }
    }
  }

  /// The place of a caller in a flight.
  struct Joined {
    let flight: Flight
    /// The number of the caller's waiter.
    let number: Int
    /// Whether the flight is to be started.
    let isNew: Bool
    /// The wait of the caller for the flight, to be ended by the caller.
    let wait: WorkWait
  }

  /// Joins the flight of a key, or starts one.
  ///
  /// - Parameters:
  ///   - key: The key that the request shares with those that it may join.
  ///   - request: The request.
  ///   - waiter: The waiter for the outcome.
  ///   - makePlace: Makes the call in which a new flight runs.
  /// - Returns: The place in the flight; `nil` for a request that the flight waits for, directly or through others.
  func join(
    _ key: SharingKey, _ request: NetworkRequest, _ waiter: Waiter<Outcome>, _ makePlace: () -> DetachedNext
  ) -> Joined? {
    flights.withLock { flights in
      if let flight = flights.byKey[key] {
        guard let wait = WorkWait(for: flight) else { return nil }
        if let number = flight.join(request, waiter) {
          flights.note(request, of: flight)
          return Joined(flight: flight, number: number, isNew: false, wait: wait)
        }
        wait.end()
      }
      let flight = Flight(key, makePlace())
      // A new flight waits for nothing yet, so this wait closes no circle.
      guard let wait = WorkWait(for: flight) else { return nil }
      let number = flight.join(request, waiter) ?? 1
      flights.insert(flight)
      flights.note(request, of: flight)
      return Joined(flight: flight, number: number, isNew: true, wait: wait)
    }
  }

  /// Sends the request for all waiters of a flight.
  func start(_ flight: Flight, _ request: NetworkRequest) {
    WorkWait.$current.withValue(flight) {
      _ = flight.place.start(request, isAwaited: true) { [weak self] result in
        self?.remove(flight)
        flight.end(result)
      }
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
    flights.withLock { $0.remove(flight) }
  }
}

extension Coalescer: CustomStringConvertible, CustomReflectable {
  /// The number of requests in flight.
  public var description: String { "Coalescer(\(flightCount) in flight)" }

  /// A mirror with the description only, because requests in flight hold secrets.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
