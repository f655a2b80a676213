import RequestBehaviors

/// A gate that holds back responses of a ``LoopbackServer`` until a test opens it.
///
/// With it a test does not depend on time.
///
/// ```swift
/// let gate = LoopbackGate()
/// server.enqueue(.text("late").held(by: gate))
/// async let text: String = client.send(.get("/"))
/// await gate.waitForArrivals(1)  // the server holds the response
/// gate.open()
/// ```
public final class LoopbackGate: Sendable {
  private struct State {
    var isOpen = false
    var arrivals = 0
    var nextID = 0
    var wakers: [Int: LoopbackWaker] = [:]
  }

  private let state = Locked(State())
  private let watchers = LoopbackWatchers()

  /// Creates a closed gate.
  public init() {}

  /// Whether the gate lets responses through.
  public var isOpen: Bool { state.withLock { $0.isOpen } }

  /// The number of responses that have reached the gate so far, including those that have passed it.
  public var arrivalCount: Int { state.withLock { $0.arrivals } }

  /// Lets all responses through: those that wait now and those that come later.
  public func open() {
    let wakers = state.withLock { state in
      state.isOpen = true
      defer { state.wakers = [:] }
      return Array(state.wakers.values)
    }
    for waker in wakers { waker.wake() }
  }

  /// Holds back the responses that come from now on.
  public func close() { state.withLock { $0.isOpen = false } }

  /// Waits until a number of responses have reached the gate since it was created, or the task is cancelled.
  public func waitForArrivals(_ count: Int) async {
    await watchers.wait { [self] in arrivalCount >= count }
  }

  /// Counts an arrival and returns its number, under which it is held if the gate is closed.
  func arrive(_ waker: LoopbackWaker) -> Int {
    let id = state.withLock { state in
      state.arrivals += 1
      state.nextID += 1
      if !state.isOpen { state.wakers[state.nextID] = waker }
      return state.nextID
    }
    watchers.notify()
    return id
  }

  /// Returns whether the arrival must still wait.
  func holds(_ id: Int) -> Bool { state.withLock { $0.wakers[id] != nil } }

  func leave(_ id: Int) { state.withLock { $0.wakers[id] = nil } }
}

/// Tasks that wait for a condition which other tasks or threads change.
final class LoopbackWatchers: Sendable {
  private struct Watcher {
    let condition: @Sendable () -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var nextID = 0
    var watchers: [Int: Watcher] = [:]
    var cancelled: Set<Int> = []
  }

  private let state = Locked(State())

  /// Returns when the condition holds, or the task is cancelled.
  ///
  /// The condition is checked now and at each ``notify()``.
  func wait(until condition: @escaping @Sendable () -> Bool) async {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // The check is under the lock, so that no change slips in before the watcher is added.
        let isOver = state.withLock { state in
          if state.cancelled.contains(id) || condition() { return true }
          state.watchers[id] = Watcher(condition: condition, continuation: continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      cancel(id)
    }
    state.withLock { _ = $0.cancelled.remove(id) }
  }

  /// Resumes the watchers whose condition now holds.
  ///
  /// Call it after each change, without holding a lock that a condition takes.
  func notify() {
    let content = state.withLock { state in
      if state.watchers.isEmpty { return [Watcher]() }
      let ids = state.watchers.filter { $0.value.condition() }.keys
      return ids.compactMap { state.watchers.removeValue(forKey: $0) }
    }
    for watcher in content { watcher.continuation.resume() }
  }

  private func cancel(_ id: Int) {
    let watcher = state.withLock { state in
      state.cancelled.insert(id)
      return state.watchers.removeValue(forKey: id)
    }
    watcher?.continuation.resume()
  }
}
