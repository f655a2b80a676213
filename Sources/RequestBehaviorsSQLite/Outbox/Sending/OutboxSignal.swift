import RequestBehaviors

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
