import Foundation

/// Reads events from a body, and from the bodies that follow it.
struct EventReader {
  private let reconnection: EventReconnection?
  private let open: EventSource.Opener
  private let settings: ResponseEvents.Settings
  /// The mapping of the errors that leave the iteration; reconnecting is decided by the original ones.
  let errorMapping: ErrorMapping?
  private var parser: EventParser
  private var chunks: ByteStream.Iterator?
  private var isOver = false
  // The number of successive bodies without an event.
  private var bodiesWithoutEvent = 0
  /// The response whose body is read; `nil` before the first.
  private(set) var response: NetworkResponse?

  init(_ source: EventSource, _ settings: ResponseEvents.Settings) {
    self.reconnection = source.reconnection
    self.open = source.makeOpener()
    self.settings = settings
    self.errorMapping = source.errorMapping
    self.parser = EventParser(limit: settings.limit, lastEventID: source.lastEventID)
  }

  /// Returns the next event if the whole event has arrived; `nil` if it must be waited for, and at the end.
  mutating func nextArrived() throws -> ServerSentEvent? {
    guard !isOver, chunks != nil else { return nil }
    do {
      guard let event = try parser.next() else { return nil }
      bodiesWithoutEvent = 0
      guard settings.isEnd?(event) != true else {
        finish()
        return nil
      }
      return event
    } catch {
      end(throwing: error)
      throw error
    }
  }

  /// Returns the next event; `nil` at the end.
  mutating func next() async throws -> ServerSentEvent? {
    guard !isOver else { return nil }
    do {
      while true {
        var failure: NetworkError?
        do {
          guard try await connect() else { break }
          if let event = try await nextOfBody() {
            // An event shows that the server works.
            bodiesWithoutEvent = 0
            guard settings.isEnd?(event) != true else { break }
            return event
          }
        } catch let error as NetworkError where response != nil && reconnection?.repeats(after: error) == true {
          failure = error
        }
        // The body has ended or broken off. The rule for reconnecting decides whether another request follows.
        guard try await waitToReconnect(after: failure) else { break }
      }
      finish()
      return nil
    } catch {
      end(throwing: error)
      throw error
    }
  }

  /// Ends the body because of an error.
  ///
  /// It has no effect if the body has ended.
  mutating func end(throwing error: any Error) {
    isOver = true
    // The stream gets the error before the iterator is released, which would cancel the body.
    if case .stream(let stream)? = response?.body { stream.cancel(throwing: error) }
    chunks = nil
  }

  /// Ends the body, because all events have come.
  ///
  /// It has no effect if the body has ended.
  private mutating func finish() {
    isOver = true
    // The stream is finished before the iterator is released, which would cancel the body.
    if case .stream(let stream)? = response?.body { stream.finish() }
    chunks = nil
  }

  /// Opens a response to read from, if none is open.
  ///
  /// Returns false if there are no more events.
  private mutating func connect() async throws -> Bool {
    if chunks != nil { return true }
    guard let opened = try await open(parser.lastEventID) else { return false }
    response = opened
    chunks = opened.bytes.makeAsyncIterator()
    return true
  }

  /// Reads until there is an event; `nil` at the end of the body.
  private mutating func nextOfBody() async throws -> ServerSentEvent? {
    var timer: RequestClock.Timer?
    defer { timer?.cancel() }
    while true {
      if let event = try parser.next() { return event }
      if timer == nil { timer = startTimer() }
      guard let chunk = try await chunks?.next() else { return nil }
      parser.add(chunk)
    }
  }

  /// Starts a timer that ends the body if no event comes in time.
  private func startTimer() -> RequestClock.Timer? {
    guard let limit = settings.idleTimeout, let response, case .stream(let stream) = response.body else { return nil }
    let error = NetworkError(
      .timedOut, "no server-sent event came for \(limit.inWords), the limit of idleTimeout(_:)",
      response: response.withoutStream)
    let canceller = stream.canceller
    return response.request.call.clock.schedule(after: limit) { canceller.cancel(throwing: error) }
  }

  /// Releases a body that has ended, and waits until another request may be made.
  ///
  /// - Returns: False if there is to be no further request.
  /// - Throws: The failure, if it rules out a further request.
  private mutating func waitToReconnect(after failure: NetworkError?) async throws -> Bool {
    guard let reconnection, let clock = response?.request.call.clock else { return false }
    chunks = nil
    parser.restart()
    bodiesWithoutEvent += 1
    guard let delay = reconnection.delay(before: bodiesWithoutEvent, retry: parser.retry) else {
      if let failure { throw failure }
      return false
    }
    try await clock.sleep(for: delay)
    return true
  }
}
