/// The progress of a request's transfer: the bytes sent and received so far, and the expected totals.
///
/// Create one for each request, and read its states while the request is under way:
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
/// Or let it call a closure on the main actor:
///
/// ```swift
/// let progress = TransferProgress { state in
///   bar.value = state.fractionSent ?? 0
/// }
/// ```
///
/// A retry, a redirect or a replay sends again: the counts restart at zero, and ``State/attempt`` increases. A resumed
/// download counts from the bytes that already exist. A slow reader misses states, but never the latest.
public final class TransferProgress: Sendable {
  /// The state of a transfer.
  public struct State: Sendable, Hashable {
    /// The number of the transmission, from 1; 0 before the first.
    public var attempt = 0
    /// The number of bytes of the request's body that the transport has consumed.
    public var sent: Int64 = 0
    /// The length of the request's body in bytes; `nil` while it is unknown.
    public var expectedToSend: Int64?
    /// The number of bytes of the response's body that have arrived, after decompression.
    public var received: Int64 = 0
    /// The length of the response's body in bytes; `nil` if it is unknown, as for a compressed body, or not known yet.
    public var expectedToReceive: Int64?
    /// Whether the call has ended, with any outcome.
    public var isFinished = false

    /// Creates the state before the first transmission.
    public init() {}

    /// The sent fraction of the request's body, from 0 to 1; `nil` if its length is unknown.
    public var fractionSent: Double? { State.fraction(sent, expectedToSend) }

    /// The received fraction of the response's body, from 0 to 1; `nil` if its length is unknown.
    public var fractionReceived: Double? { State.fraction(received, expectedToReceive) }

    private static func fraction(_ count: Int64, _ expected: Int64?) -> Double? {
      guard let expected else { return nil }
      return expected > 0 ? min(Double(count) / Double(expected), 1) : 1
    }
  }

  private struct Record {
    var current = State()
    /// The number of received bytes that existed before the transmission.
    var alreadyReceived: Int64 = 0
    /// The number of changes of the state.
    var version = 0
    var waiters: [Waiter<Void>] = []
    var followers: [@Sendable (TransferProgress) -> Void] = []
  }

  private let record: Locked<Record>

  /// Creates a progress for reading its ``states``.
  public init() { record = Locked(Record()) }

  /// Creates a progress that calls a closure.
  ///
  /// - Parameter onChange: Receives the latest state on the main actor, soon after a change. States between two calls
  ///   are skipped.
  public init(_ onChange: @escaping @MainActor @Sendable (State) -> Void) {
    let call = MainActorCall(onChange)
    record = Locked(Record(followers: [call.schedule]))
  }

  /// The current state of the transfer.
  public var state: State { record.withLock { $0.current } }

  /// The states from now on; the last one has `isFinished` set.
  public var states: States { States(progress: self) }

  /// Begins a transmission; later counts of an earlier transmission are ignored.
  ///
  /// A transport calls it when it receives a request. After ``finish()`` it has no effect.
  ///
  /// - Parameter length: The length of the body in bytes; `nil` if it is not known yet.
  /// - Returns: The counter for this transmission.
  public func begin(sending length: Int64?) -> Attempt {
    var number = 0
    change(of: nil) { record in
      record.alreadyReceived = 0
      number = record.current.attempt + 1
      record.current = State()
      record.current.attempt = number
      record.current.expectedToSend = length
    }
    return Attempt(progress: self, number: number)
  }

  /// Records that the body of the response continues existing bytes.
  func resume(at count: Int64) {
    change(of: nil) { record in
      record.alreadyReceived = count
      record.current.received = record.current.received.saturatingAdd(count)
      if let expected = record.current.expectedToReceive {
        record.current.expectedToReceive = expected.saturatingAdd(count)
      }
    }
  }

  /// Records that the call has ended; the client calls it, and the state does not change afterwards.
  public func finish() { change(of: nil) { $0.current.isFinished = true } }

  /// A counter for the bytes of one transmission, used by its transport.
  public struct Attempt: Sendable {
    fileprivate let progress: TransferProgress
    fileprivate let number: Int

    /// Records how many bytes of the request's body have been sent so far.
    ///
    /// - Parameters:
    ///   - count: The total number of bytes so far.
    ///   - expected: The expected total; `nil` keeps the known value.
    public func sent(_ count: Int64, of expected: Int64? = nil) {
      progress.change(of: number) { record in
        record.current.sent = count
        if let expected { record.current.expectedToSend = expected }
      }
    }

    /// Records how many bytes of the response's body have arrived so far.
    ///
    /// - Parameters:
    ///   - count: The total number of bytes so far.
    ///   - expected: The expected total; `nil` keeps the known value.
    public func received(_ count: Int64, of expected: Int64? = nil) {
      progress.change(of: number) { record in
        record.current.received = count.saturatingAdd(record.alreadyReceived)
        if let expected { record.current.expectedToReceive = expected.saturatingAdd(record.alreadyReceived) }
      }
    }
  }

  /// Changes the state under the lock and notifies readers and followers.
  ///
  /// It does nothing if the call has ended, if the change is about an earlier transmission, or if the state stays
  /// equal.
  private func change(of attempt: Int?, _ change: (inout Record) -> Void) {
    let (woken, followers) = record.withLock { record -> ([Waiter<Void>], [@Sendable (TransferProgress) -> Void]) in
      // Work after the end of the call, such as a refresh of a cache, is not part of the call.
      if record.current.isFinished { return ([], []) }
      if let attempt, attempt != record.current.attempt { return ([], []) }
      let before = record.current
      change(&record)
      guard record.current != before else { return ([], []) }
      record.version += 1
      defer { record.waiters = [] }
      return (record.waiters, record.followers)
    }
    for waiter in woken { waiter.settle(.success(())) }
    for follower in followers { follower(self) }
  }

  /// Adds a closure that is called now and after each change, on the path of the transfer.
  func follow(_ follower: @escaping @Sendable (TransferProgress) -> Void) {
    record.withLock { $0.followers.append(follower) }
    follower(self)
  }
}

extension Int64 {
  /// Returns the sum, or the largest number if it overflows: a server may announce any length.
  fileprivate func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? .max : sum
  }
}

/// Calls a closure on the main actor, once for all changes since the previous call.
private final class MainActorCall: Sendable {
  private let closure: @MainActor @Sendable (TransferProgress.State) -> Void
  private let isScheduled = Locked(false)

  init(_ closure: @escaping @MainActor @Sendable (TransferProgress.State) -> Void) { self.closure = closure }

  func schedule(_ progress: TransferProgress) {
    let isFirst = isScheduled.withLock { isScheduled in
      defer { isScheduled = true }
      return !isScheduled
    }
    guard isFirst else { return }
    Task { @MainActor in
      isScheduled.withLock { $0 = false }
      closure(progress.state)
    }
  }
}

// MARK: - The states as a sequence

extension TransferProgress {
  /// The states of a progress; a slow reader gets only the latest.
  public struct States: AsyncSequence, Sendable {
    /// The type of a state.
    public typealias Element = State

    fileprivate let progress: TransferProgress

    /// Creates an iterator; several iterators may exist at once.
    public func makeAsyncIterator() -> Iterator { Iterator(progress: progress) }

    /// An iterator that waits for changes.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let progress: TransferProgress
      private var seen = 0

      fileprivate init(progress: TransferProgress) { self.progress = progress }

      /// Returns the latest state as soon as it differs from the previous one.
      ///
      /// - Returns: The state; `nil` after the finished state, and when the task is cancelled.
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
    record.withLock { record in
      if record.version > seen { return .changed(record.current, version: record.version) }
      if record.current.isFinished { return .finished }
      let waiter = Waiter<Void>()
      record.waiters.append(waiter)
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
  /// The progress object that follows the transfer; `nil` by default.
  ///
  /// It follows the request through redirects and retries. A response from a cache or from a shared request transfers
  /// no bytes: the progress only finishes. If a ``HedgingBehavior`` sends twice in parallel, the later send counts.
  public var progress: TransferProgress? {
    get { self[ProgressOption.self] }
    set { self[ProgressOption.self] = newValue }
  }
}
