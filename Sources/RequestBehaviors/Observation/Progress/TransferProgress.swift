import Foundation

/// How far the transfer of a request is: the bytes that have been sent and received, and how many there will be.
///
/// Make one for each request, and read its states while the request is under way:
///
/// ```swift
/// let progress = TransferProgress()
/// let upload = Request<Void>.put("film", body: .file(film))
///   .with(\.progress, progress)
/// async let shown: Void = show(progress.states)
/// try await client.send(upload)
/// await shown
/// ```
///
/// or have a closure called on the main actor:
///
/// ```swift
/// let progress = TransferProgress { state in
///   bar.value = state.fractionSent ?? 0
/// }
/// ```
///
/// A retry, a redirect or a replay sends again: the counts begin at zero, and ``State/attempt`` tells so. What is received
/// of a download that goes on begins with what is there already. Who reads slowly misses states, never the latest.
public final class TransferProgress: Sendable {
  /// How far a transfer is.
  public struct State: Sendable, Hashable {
    /// Which transmission of the request it is, from 1; 0 before the first.
    public var attempt = 0
    /// How many bytes of the request's body the transport has taken off its hands.
    public var sent: Int64 = 0
    /// How many bytes the request's body has; `nil` if that is not known, or not yet.
    public var expectedToSend: Int64?
    /// How many bytes of the response's body have come, decompressed.
    public var received: Int64 = 0
    /// How many bytes the response's body has; `nil` if the server does not say, as of a compressed one, or not yet.
    public var expectedToReceive: Int64?
    /// Whether the call has ended, well or not.
    public var isFinished = false

    /// Creates the state before the first transmission.
    public init() {}

    /// How much of the request's body has been sent, from 0 to 1; `nil` if its length is not known.
    public var fractionSent: Double? { State.fraction(sent, expectedToSend) }

    /// How much of the response's body has come, from 0 to 1; `nil` if its length is not known.
    public var fractionReceived: Double? { State.fraction(received, expectedToReceive) }

    private static func fraction(_ count: Int64, _ expected: Int64?) -> Double? {
      guard let expected else { return nil }
      return expected > 0 ? min(Double(count) / Double(expected), 1) : 1
    }
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var current = State()
  // Protected by `lock`: how many bytes of what is received were there before the transmission.
  nonisolated(unsafe) private var alreadyReceived: Int64 = 0
  // Protected by `lock`: how often the state has changed.
  nonisolated(unsafe) private var version = 0
  // Protected by `lock`.
  nonisolated(unsafe) private var waiters: [Waiter<Void>] = []
  nonisolated(unsafe) private var followers: [@Sendable (TransferProgress) -> Void] = []

  /// Creates a progress whose ``states`` are read.
  public init() {}

  /// Creates a progress that calls a closure.
  ///
  /// - Parameter onChange: Gets the latest state on the main actor, soon after it has changed; states between two calls
  ///   are left out.
  public init(_ onChange: @escaping @MainActor @Sendable (State) -> Void) {
    let call = MainActorCall(onChange)
    followers = [call.schedule]
  }

  /// How far the transfer is.
  public var state: State { lock.withLock { current } }

  /// The states from now on; the last one is finished.
  public var states: States { States(progress: self) }

  /// Begins a transmission: whatever an earlier one counts further is ignored.
  ///
  /// A transport calls it when it takes a request. After ``finish()`` nothing counts any more.
  ///
  /// - Parameter length: How many bytes the body has; `nil` if that is not known yet.
  /// - Returns: What counts the bytes of this transmission.
  public func begin(sending length: Int64?) -> Attempt {
    var number = 0
    change(of: nil) { state in
      alreadyReceived = 0
      number = state.attempt + 1
      state = State()
      state.attempt = number
      state.expectedToSend = length
    }
    return Attempt(progress: self, number: number)
  }

  /// Notes that the body of the response is the rest of what is there already.
  func resume(at count: Int64) {
    change(of: nil) { state in
      alreadyReceived = count
      state.received = state.received.saturatingAdd(count)
      if let expected = state.expectedToReceive { state.expectedToReceive = expected.saturatingAdd(count) }
    }
  }

  /// Notes that the call has ended, which a client does; from then on the state stays as it is.
  public func finish() { change(of: nil) { $0.isFinished = true } }

  /// Counts the bytes of one transmission, for the transport that makes it.
  public struct Attempt: Sendable {
    fileprivate let progress: TransferProgress
    fileprivate let number: Int

    /// Notes how many bytes of the request's body have been sent so far.
    ///
    /// - Parameters:
    ///   - count: The number of bytes in all.
    ///   - expected: How many there will be; `nil` leaves what is known.
    public func sent(_ count: Int64, of expected: Int64? = nil) {
      progress.change(of: number) { state in
        state.sent = count
        if let expected { state.expectedToSend = expected }
      }
    }

    /// Notes how many bytes of the response's body have come so far.
    ///
    /// - Parameters:
    ///   - count: The number of bytes in all.
    ///   - expected: How many there will be; `nil` leaves what is known.
    public func received(_ count: Int64, of expected: Int64? = nil) {
      progress.change(of: number) { state in
        state.received = count.saturatingAdd(progress.alreadyReceived)
        if let expected { state.expectedToReceive = expected.saturatingAdd(progress.alreadyReceived) }
      }
    }
  }

  /// Changes the state, under the lock, unless the call has ended, that is about another transmission by now, or nothing
  /// changes by it.
  private func change(of attempt: Int?, _ change: (inout State) -> Void) {
    let (woken, followers) = lock.withLock { () -> ([Waiter<Void>], [@Sendable (TransferProgress) -> Void]) in
      // What goes on after the call, to refresh a cache for example, is no part of it.
      if current.isFinished { return ([], []) }
      if let attempt, attempt != current.attempt { return ([], []) }
      let before = current
      change(&current)
      guard current != before else { return ([], []) }
      version += 1
      defer { waiters = [] }
      return (waiters, self.followers)
    }
    for waiter in woken { waiter.settle(.success(())) }
    for follower in followers { follower(self) }
  }

  /// Adds what is called after each change, on the path of the transfer.
  func follow(_ follower: @escaping @Sendable (TransferProgress) -> Void) {
    lock.withLock { followers.append(follower) }
    follower(self)
  }
}

extension Int64 {
  /// The sum, or the largest number: a server may announce any length.
  fileprivate func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? .max : sum
  }
}

/// Calls a closure on the main actor, once for all changes since the last time.
private final class MainActorCall: Sendable {
  private let closure: @MainActor @Sendable (TransferProgress.State) -> Void
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var isScheduled = false

  init(_ closure: @escaping @MainActor @Sendable (TransferProgress.State) -> Void) { self.closure = closure }

  func schedule(_ progress: TransferProgress) {
    let isFirst = lock.withLock {
      defer { isScheduled = true }
      return !isScheduled
    }
    guard isFirst else { return }
    Task { @MainActor in
      lock.withLock { isScheduled = false }
      closure(progress.state)
    }
  }
}

// MARK: - The states as a sequence

extension TransferProgress {
  /// The states of a progress, of which a slow reader gets the latest.
  public struct States: AsyncSequence, Sendable {
    /// The type of a state.
    public typealias Element = State

    fileprivate let progress: TransferProgress

    /// Creates an iterator; several may read at once.
    public func makeAsyncIterator() -> Iterator { Iterator(progress: progress) }

    /// Waits for one state after the other.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let progress: TransferProgress
      private var seen = 0

      fileprivate init(progress: TransferProgress) { self.progress = progress }

      /// Returns the latest state as soon as it is another one than before.
      ///
      /// - Returns: The state; `nil` after the finished one, and when the task is cancelled.
      public mutating func next() async -> State? {
        while true {
          switch progress.look(after: seen) {
          case .changed(let state, let version):
            seen = version
            return state
          case .finished: return nil
          case .unchanged(let waiter):
            do { try await waiter.value() } catch { return nil }
          }
        }
      }
    }
  }

  private enum Look {
    case changed(State, version: Int)
    case finished
    case unchanged(Waiter<Void>)
  }

  private func look(after seen: Int) -> Look {
    lock.withLock {
      if version > seen { return .changed(current, version: version) }
      if current.isFinished { return .finished }
      let waiter = Waiter<Void>()
      waiters.append(waiter)
      return .unchanged(waiter)
    }
  }
}

private enum ProgressOption: RequestOption {
  static let defaultValue: TransferProgress? = nil
  static let isPortable = true
  static let affectsResponse = false
}

extension RequestOptions {
  /// What is told how far the transfer is; `nil` by default.
  ///
  /// It follows the request through redirects and retries. A response from a cache, or one that a request joined, moves
  /// no bytes: the progress only finishes. Of two sends at once, as a ``HedgingBehavior`` makes them, the later one counts.
  public var progress: TransferProgress? {
    get { self[ProgressOption.self] }
    set { self[ProgressOption.self] = newValue }
  }
}
