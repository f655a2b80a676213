extension Call {
  /// A wait that a behavior began; ``end(_:)`` ends it.
  public struct EventWait: Sendable {
    let index: Int
  }

  /// Records a decision to wait; ``end(_:)`` gives the event its duration.
  ///
  /// ```swift
  /// let waiting = call.begin(
  ///   "waits for a free printer", from: "PrinterBehavior")
  /// defer { call.end(waiting) }
  /// try await printers.next()
  /// ```
  ///
  /// Observers are told at the beginning. A recording (``CallRecorder``) shows the wait with its length and reason.
  ///
  /// - Parameters:
  ///   - message: The decision, without secrets.
  ///   - source: The name of the behavior.
  ///   - kind: The kind of decision; ``Event/Kind-swift.struct/other`` by default.
  /// - Returns: The wait, to end it.
  public func begin(_ message: String, from source: String, kind: Event.Kind = .other) -> EventWait {
    var event = Event(at: clock.now(), source: source, message: message, kind: kind)
    event.isUnderWay = true
    return EventWait(index: add(event) { _ in true })
  }

  /// Records that a wait is over; a second call for the same wait does nothing.
  ///
  /// - Parameter wait: The wait that ``begin(_:from:kind:)`` of the same call returned.
  public func end(_ wait: EventWait) {
    let now = clock.now()
    withState { state in
      guard state.events.indices.contains(wait.index), state.events[wait.index].isUnderWay else { return }
      state.events[wait.index].endWait(at: now)
    }
  }
}
