import Foundation

/// One run of a request through a ``Chain``, with the state that ends with it.
///
/// A ``Call`` outlives its run, because every request, response and error refers to it. State that refers to one of
/// these, such as the latest response, is kept here: in the call it would keep itself and every body alive.
final class ChainRun: Sendable {
  let chain: Chain
  let call: Call
  /// The facts about the places of the list.
  let places: [Chain.Place]
  private let state = Locked(State())

  private struct State {
    var lastOutcome: Result<NetworkResponse, any Error>?
    var oneShotBodies: [OneShotStream] = []
    var steps = Steps()
  }

  init(_ chain: Chain, _ call: Call) {
    self.chain = chain
    self.call = call
    self.places = chain.places()
    if !chain.observers.isEmpty { call.withState { $0.observers = chain.observers } }
  }
}

// MARK: - Attempts

extension ChainRun {
  /// Counts an attempt.
  ///
  /// - Returns: The number of the attempt within the call, from 1.
  /// - Throws: ``NetworkError`` of code `tooManyAttempts`, with the latest response or failure.
  func beginAttempt(_ request: NetworkRequest) throws -> Int {
    if let number = call.beginAttempt(request) { return number }
    var error = NetworkError(
      .tooManyAttempts,
      "the call made \(Call.maximumAttempts) sends, as many as a call may; something repeats without end",
      request: request)
    switch state.withLock({ $0.lastOutcome }) {
    case .success(let response): error.response = response
    case .failure(let failure): error.underlyingError = failure
    case nil: break
    }
    throw error
  }

  func endAttempt(_ number: Int, with response: NetworkResponse) {
    call.endAttempt(number, .response(response), timings: response.timings)
    // An acceptable first response is never reported by an error.
    if number == 1, response.isAcceptable { return }
    state.withLock { $0.lastOutcome = .success(response) }
  }

  /// Records the head of a streamed response, and the rest when its body has ended.
  func endAttempt(_ number: Int, with response: NetworkResponse, at stream: ByteStream, of request: NetworkRequest) {
    // A closure that waits for the end of the body would keep it alive if it referred to it, and so would this state.
    state.withLock { $0.lastOutcome = .success(response.withoutStream) }
    call.noteHead(of: number, response)
    let (call, statusCode, observers) = (call, response.statusCode, chain.attemptObservers)
    let head = call.attempt(number)
    for observer in observers { observer.attemptReceivedHead(head, of: request) }
    // The run may be over by then; the attempt of the call is recorded all the same.
    stream.onCompletion { [weak self] completion in
      if let error = completion.error, !(error is CancellationError) { self?.noteFailure(error) }
      let redactor = Redactor.standard.hiding(secretsOf: request)
      let outcome = Attempt.Outcome(statusCode: statusCode, completion, redactor: redactor)
      let progress = (completion.error as? NetworkError)?.progress
      call.endAttempt(number, outcome, progress: progress, at: completion.endedAt)
      let attempt = call.attempt(number)
      for observer in observers { observer.attemptEnded(attempt, of: request) }
    }
  }

  func endAttempt(_ number: Int, with failure: any Error, of request: NetworkRequest) {
    call.endAttempt(
      number, Attempt.Outcome(failure, redactor: Redactor.standard.hiding(secretsOf: request)),
      progress: (failure as? NetworkError)?.progress)
    // A cancellation says nothing about the server; the failure before it does.
    if !(failure is CancellationError) { noteFailure(failure) }
  }

  func noteFailure(_ failure: any Error) { state.withLock { $0.lastOutcome = .failure(failure) } }

  /// The latest failure or unacceptable response, which a cancellation would hide.
  var lastFailure: (any Error)? {
    switch state.withLock({ $0.lastOutcome }) {
    case .failure(let error): error
    case .success(let response) where !response.isAcceptable: NetworkError.unacceptableStatus(response)
    default: nil
    }
  }
}

// MARK: - Steps

extension ChainRun {
  /// Begins a pass through a behavior's `intercept`, and returns its number.
  func beginStep() -> Int {
    state.withLock { $0.steps.begin() }
  }

  func endStep(_ step: Int) { state.withLock { $0.steps.end(step) } }

  func hasEnded(step: Int) -> Bool { state.withLock { $0.steps.hasEnded(step) } }
}

extension ChainRun {
  /// The passes through an `intercept` so far, and which of them are over.
  ///
  /// A bit for each of the first 64: a list would be one of the ten allocations of a request that is sent once.
  private struct Steps: Sendable {
    private var count = 0
    private var ended: UInt64 = 0
    private var laterEnded: Set<Int> = []

    /// Begins a pass, and returns its number.
    mutating func begin() -> Int {
      count += 1
      return count - 1
    }

    mutating func end(_ step: Int) {
      if step < 64 { ended |= 1 << step } else { laterEnded.insert(step) }
    }

    func hasEnded(_ step: Int) -> Bool { step < 64 ? ended & 1 << step != 0 : laterEnded.contains(step) }
  }
}

// MARK: - The end

extension ChainRun {
  /// Records a body that can be sent only once, so that it is cancelled at the end of the run.
  func note(_ body: RequestBody?) {
    guard case .oneShot(let stream)? = body?.content else { return }
    state.withLock { state in
      if state.oneShotBodies.contains(where: { $0 === stream }) { return }
      state.oneShotBodies.append(stream)
      stream.hold()
    }
  }

  /// Cancels the one-shot bodies that were never read, and drops the values that end with the `send`.
  ///
  /// A body is not read if a hook threw, if a response came without sending, or if another body was sent instead. A
  /// body that was read is ended by its reader.
  func end() {
    let bodies = state.withLock { state in
      defer { state.oneShotBodies = [] }
      return state.oneShotBodies
    }
    for body in bodies { body.letGo() }
    let forgotten = call.withState { state in
      state.observers = []
      return state.memory.endSend()
    }
    // Released outside of the lock.
    _ = forgotten
  }
}
