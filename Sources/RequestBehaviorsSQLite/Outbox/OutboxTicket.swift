import RequestBehaviors

/// The knowledge of an entry that this run of the program has: the value of its response, once it is delivered.
final class OutboxTicket: Sendable {
  private struct State {
    var value: Result<any Sendable, any Error>?
    var waiting: [Waiter<Void>] = []
  }

  private let state = Locked(State())

  /// The value of the response, or the error of decoding it; nil before the delivery.
  var value: Result<any Sendable, any Error>? { state.withLock { $0.value } }

  /// Keeps the value of the response.
  func settle(_ value: Result<any Sendable, any Error>) {
    state.withLock { $0.value = $0.value ?? value }
    wake()
  }

  /// Wakes those who wait for the end of an attempt.
  func wake() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.settle(.success(())) }
  }

  /// Returns a waiter for the end of the attempt that is under way.
  func nextWake() -> Waiter<Void> {
    let waiter = Waiter<Void>()
    state.withLock { $0.waiting.append(waiter) }
    return waiter
  }
}

/// A wish to look again, which is kept until the next wait.
final class OutboxSignal: Sendable {
  private struct State {
    var isRaised = false
    var waiter: Waiter<Void>?
  }

  private let state = Locked(State())

  func raise() {
    let waiter = state.withLock { state in
      state.isRaised = state.waiter == nil
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.settle(.success(()))
  }

  /// Returns when the signal is raised, at once if it was since the last wait, or after a time.
  func wait(for duration: Duration, on clock: RequestClock) async {
    let waiter = state.withLock { state -> Waiter<Void>? in
      if state.isRaised {
        state.isRaised = false
        return nil
      }
      let waiter = Waiter<Void>()
      state.waiter = waiter
      return waiter
    }
    guard let waiter else { return }
    let timer = clock.schedule(after: duration) { [weak self] in self?.raise() }
    try? await waiter.value()
    timer.cancel()
  }
}
