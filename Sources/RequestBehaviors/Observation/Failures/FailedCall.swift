import Foundation

/// A call that failed, with what its sends brought: the facts of a ``RecordedFailure``.
///
/// The recording is redacted; the fields and bodies of the sends are not.
struct FailedCall: Sendable {
  /// One send, as the mock of a test needs it.
  struct Send: Sendable {
    let method: RequestMethod
    let url: URL
    let startedAt: Duration
    let outcome: Attempt.Outcome
    /// Whether the head of a response arrived.
    let hasHead: Bool
    /// The fields of the response; `nil` if they are unknown.
    var headers: HeaderFields?
    /// The body of the response, or its beginning; `nil` if it is unknown.
    var body: Data?
  }

  /// The call of the user and those that were made for it.
  var recording: Recording
  /// The number of the user's call; the error may be of one that it needed.
  let user: UInt64
  /// The method of the user's request.
  let method: RequestMethod
  /// The URL of the user's request, not redacted.
  let url: URL
  /// The fields that the user set on the request.
  var userHeaders = HeaderFields()
  /// The body of the request; `nil` without a body, and if it is unknown.
  var requestBody: RequestBody?
  /// The sends of all these calls, in order.
  var sends: [Send]
  /// The names of the behaviors, outermost first; empty if they are unknown.
  let behaviors: [String]
  /// Hides every value that one of the calls knows to be secret.
  let redactor: Redactor
}

/// The behaviors of a call that failed, outermost first; the other calls store none, so that they pay nothing.
enum FailedBehaviorsKey: CallKey {
  // Types rather than behaviors, because a behavior that keeps an error would keep itself.
  static let defaultValue: [any RequestBehavior.Type] = []
}

extension Call {
  /// Notes the list of behaviors that a call which failed ran through.
  func noteFailure(in chain: Chain?) {
    guard let chain else { return }
    self[FailedBehaviorsKey.self] = chain.pipeline.entries.map { type(of: $0.behavior) as any RequestBehavior.Type }
  }
}

extension NetworkError {
  /// Returns the call that failed as a recording, to look at it or to hand it on; `nil` if no request was built.
  ///
  /// ```swift
  /// if let recording = error.recording() {
  ///   try recording.har().write(to: harFile)
  ///   try recording.waterfall().write(to: page)
  /// }
  /// ```
  ///
  /// The error knows the sends, the decisions and the latest response of its call. With a ``RecordingBehavior`` in the
  /// list, the fields of every response are there too, and the calls that were needed, such as one for a token; with
  /// `bodies: .upTo(…)` also the bodies.
  ///
  /// A recorder no longer has a call whose user has signed out since, but it has one during which the session ended.
  ///
  /// The archive holds what a test of the failure needs, and `Recording.reproduction(named:)` of the module
  /// RequestBehaviorsTesting makes it. Secrets are hidden by values of the same type. Personal data in the bodies is no
  /// secret: hide it with ``Redactor/sensitivePointers``, or ask the user before you send the file.
  ///
  /// - Parameter redactor: Hides secrets; give it the rules of your logs. By default it is that of the recorder, or
  ///   else the standard one.
  /// - Returns: The recording of the call and of those that were made for it.
  public func recording(redactor: Redactor? = nil) -> Recording? {
    guard let call = failedCall(redactor: redactor) else { return nil }
    var recording = call.recording
    recording.failure = RecordedFailure(self, call)
    return recording
  }

  /// The call that failed; `nil` if no request was built.
  ///
  /// With a ``RecordingBehavior`` in the list it has the fields of every send, and those of the calls that it needed.
  ///
  /// - Parameter redactor: Hides secrets; `nil` for that of the recorder, or else the standard one.
  /// - Returns: The call.
  private func failedCall(redactor: Redactor?) -> FailedCall? {
    guard let request else { return nil }
    let behaviors = request.call[FailedBehaviorsKey.self]
    let recorder = request.call[FailureRecorderKey.self]
    // The call may have learnt a secret since its end, which the recorder does not know.
    let hiding = recorder.map { (redactor ?? $0.redactor).hiding(secretsOf: request) }
    var failed = recorder?.failedCall(request.call.servedID, behaviors: behaviors, hiding)
    if failed == nil { failed = attemptedCall(request, behaviors, redactor ?? recorder?.redactor ?? .standard) }
    guard var failed else { return nil }
    if failed.user == request.call.id.number {
      failed.userHeaders = request.call.userHeaders
      failed.requestBody = request.body
    }
    // The error itself has the latest response, with its body.
    if let response, let last = failed.sends.lastIndex(where: { $0.isLike(response) }) {
      failed.sends[last].headers = response.headers
      if case .data(let data) = response.body { failed.sends[last].body = data }
    }
    return failed
  }

  /// Returns the call as far as the error knows it: its sends and decisions.
  private func attemptedCall(
    _ request: NetworkRequest, _ behaviors: [any RequestBehavior.Type], _ redactor: Redactor
  ) -> FailedCall {
    let call = request.call
    var redactor = redactor.hiding(secretsOf: request)
    if let response { redactor = redactor.hiding(secretsOf: response) }
    let attempts = attempts
    let first = attempts.first?.startedAt ?? call.startedAt
    let start = min(call.startedAt, first)
    let shown = attempts.map { RecordedSend($0, since: start, redactor) }
    let decisions = call.events.map { event in
      RecordedDecision(
        at: event.at - start, duration: event.duration, source: event.source,
        message: redactor.redact(text: event.message), kind: event.kind)
    }
    let end = (attempts.compactMap(\.endedAt) + call.events.map(\.at) + [call.startedAt]).max() ?? start
    let url = attempts.first?.url ?? request.url
    let recorded = RecordedCall(
      number: call.id.number, purpose: call.purpose, method: (attempts.first?.method ?? request.method).rawValue,
      url: redactor.redact(url), endpoint: redactor.redact(text: request.endpoint), startedAt: call.startedAt - start,
      endedAt: end - start, outcome: .failure(code: code.rawValue, message: redactor.redact(text: message)),
      source: response?.source, sends: shown, decisions: decisions)
    let elapsed = call.clock.now() - start
    let date = call.clock.date().addingTimeInterval(-elapsed.inSeconds)
    return FailedCall(
      recording: Recording(startedAt: date, calls: [recorded]), user: call.id.number,
      method: attempts.first?.method ?? request.method, url: url, sends: attempts.map { FailedCall.Send($0) },
      behaviors: behaviors.map { "\($0)" }, redactor: redactor)
  }
}

extension CallRecorder {
  /// Returns a call that failed, with the calls that it was made for and those that were made for it.
  fileprivate func failedCall(
    _ id: Call.ID, behaviors: [any RequestBehavior.Type], _ redactor: Redactor?
  ) -> FailedCall? {
    let stored = state.withLock { $0 }
    let calls = stored.inOrder
    guard var root = calls.first(where: { $0.id == id }) else { return nil }
    var family: Set<Call.ID> = [root.id]
    while let parent = root.parent, let call = calls.first(where: { $0.id == parent }) {
      guard family.insert(call.id).inserted else { break }
      root = call
    }
    // A call begins after the one that needs it.
    for call in calls { if let parent = call.parent, family.contains(parent) { family.insert(call.id) } }
    guard let url = root.url else { return nil }
    // Asked here too, because the client that told of a sign-out may be gone.
    guard root.isPresent || root.isUnderWay || root.hasOutlivedUser else { return nil }
    let export = RecordingExport(stored, redactor: redactor ?? self.redactor, bodyLimit: bodies.limit)
    let sends = calls.filter { family.contains($0.id) }.flatMap(\.sends).sorted { $0.startedAt < $1.startedAt }
    return FailedCall(
      recording: export.recording(of: family), user: root.id.number, method: root.method ?? .get, url: url,
      sends: sends.map { FailedCall.Send($0) }, behaviors: behaviors.map { "\($0)" }, redactor: export.redactor)
  }
}

extension FailedCall.Send {
  fileprivate init(_ attempt: Attempt) {
    self.init(
      method: attempt.method, url: attempt.url, startedAt: attempt.startedAt, outcome: attempt.outcome,
      hasHead: attempt.timings != nil)
  }

  fileprivate init(_ send: StoredSend) {
    self.init(
      method: send.method, url: send.url, startedAt: send.startedAt, outcome: send.outcome,
      hasHead: send.timings != nil, headers: send.responseHeaders.isEmpty ? nil : send.responseHeaders,
      body: send.responseBody)
  }

  /// Whether a response may be the one of this send.
  fileprivate func isLike(_ response: NetworkResponse) -> Bool {
    guard case .response(let statusCode, _) = outcome else { return false }
    return statusCode == response.statusCode && url == response.request.url
  }
}

extension RecordedSend {
  fileprivate init(_ attempt: Attempt, since start: Duration, _ redactor: Redactor) {
    self.init(
      number: attempt.number, method: attempt.method.rawValue, url: redactor.redact(attempt.url),
      startedAt: attempt.startedAt - start, endedAt: attempt.endedAt.map { $0 - start },
      outcome: Outcome(attempt.outcome, redactor), timings: attempt.timings?.since(start))
  }
}
