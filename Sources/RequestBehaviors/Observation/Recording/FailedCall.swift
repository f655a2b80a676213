package import Foundation

/// A call that failed, with what its sends brought: the facts of a reproduction.
///
/// The recording is redacted; the fields and bodies of the sends are not.
package struct FailedCall: Sendable {
  /// One send, as the mock of a test needs it.
  package struct Send: Sendable {
    package let method: RequestMethod
    package let url: URL
    package let startedAt: Duration
    package let outcome: Attempt.Outcome
    /// Whether the head of a response arrived.
    package let hasHead: Bool
    /// The fields of the response; `nil` if they are unknown.
    package var headers: HeaderFields?
    /// The body of the response, or its beginning; `nil` if it is unknown.
    package var body: Data?
  }

  /// The call of the user and those that were made for it.
  package var recording: Recording
  /// The number of the user's call; the error may be of one that it needed.
  let user: UInt64
  /// The method of the user's request.
  package let method: RequestMethod
  /// The URL of the user's request, not redacted.
  package let url: URL
  /// The fields that the user set on the request.
  package var userHeaders = HeaderFields()
  /// The body of the request; `nil` without a body, and if it is unknown.
  package var requestBody: RequestBody?
  /// The sends of all these calls, in order.
  package var sends: [Send]
  /// The names of the behaviors, outermost first; empty if they are unknown.
  package let behaviors: [String]
  /// Hides every value that one of the calls knows to be secret.
  package let redactor: Redactor
}

/// The facts that a call which failed keeps for a reproduction, and the recorder that has more of them.
struct FailureFacts: Sendable {
  var recorder: CallRecorder?
  // Types rather than behaviors, because a behavior that keeps an error would keep itself.
  var behaviors: [any RequestBehavior.Type] = []
}

/// The facts of a call that failed; the other calls store none, so that they pay nothing.
enum FailureFactsKey: CallKey {
  static let defaultValue: FailureFacts? = nil
}

extension Call {
  /// Notes the list of behaviors that a call which failed ran through.
  func noteFailure(in chain: Chain?) {
    guard let chain else { return }
    let types = chain.pipeline.entries.map { type(of: $0.behavior) as any RequestBehavior.Type }
    update(FailureFactsKey.self) { facts in
      var known = facts ?? FailureFacts()
      known.behaviors = types
      facts = known
    }
  }

  /// Notes the recorder that has the facts of a call which failed.
  func noteFailure(recordedBy recorder: CallRecorder) {
    update(FailureFactsKey.self) { facts in
      var known = facts ?? FailureFacts()
      known.recorder = recorder
      facts = known
    }
  }
}

extension NetworkError {
  /// The call that failed; `nil` if no request was built.
  ///
  /// With a ``RecordingBehavior`` in the list it has the fields of every send, and those of the calls that it needed.
  ///
  /// - Parameter redactor: Hides secrets; `nil` for that of the recorder, or else the standard one.
  /// - Returns: The call.
  package func failedCall(redactor: Redactor?) -> FailedCall? {
    guard let request else { return nil }
    let facts = request.call[FailureFactsKey.self]
    var failed = facts?.recorder?.failedCall(
      request.call.servedID, behaviors: facts?.behaviors ?? [], redactor)
    if failed == nil { failed = attemptedCall(request, facts?.behaviors ?? [], redactor ?? .standard) }
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
    let export = RecordingExport(stored, redactor: redactor ?? self.redactor, bodyLimit: bodies.limit)
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
    var recording = export.recording()
    let numbers = Set(family.map(\.number))
    recording.calls.removeAll { !numbers.contains($0.number) }
    recording.droppedCalls = 0
    let sends = calls.filter { family.contains($0.id) }.flatMap(\.sends).sorted { $0.startedAt < $1.startedAt }
    return FailedCall(
      recording: recording, user: root.id.number, method: RequestMethod(rawValue: root.method), url: url,
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
      method: send.method, url: send.url, startedAt: send.startedAt, outcome: send.attempt?.outcome ?? .pending,
      hasHead: send.attempt?.timings != nil, headers: send.responseHeaders.isEmpty ? nil : send.responseHeaders,
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
