import Foundation

/// Makes a ``Recording`` of stored calls, with every secret hidden.
struct RecordingExport {
  private let stored: StoredCalls
  private typealias Entry = (call: StoredCall, decisions: [Call.Event])

  private let calls: [Entry]
  /// Hides what one of the calls knows to be secret.
  let redactor: Redactor
  private let bodyLimit: Int
  private let origin: Duration
  /// The call under which the sends of a shared flight are kept.
  private var served: [Call.ID: Call.ID] = [:]

  init(_ stored: StoredCalls, redactor: Redactor, bodyLimit: Int) {
    self.stored = stored
    self.bodyLimit = bodyLimit
    // Decisions first: a call under way knows the secrets of those that it has taken so far.
    calls = stored.inOrder.map { ($0, $0.decisions) }
    origin = stored.origin?.time ?? .zero
    // A secret of one call may appear in any other, such as a token in the response that brings it.
    var secrets = Set(stored.formerSecrets)
    for (call, _) in calls {
      secrets.formUnion(call.secrets(for: redactor))
      for send in call.sends { served[send.place.sender] = send.place.call }
    }
    self.redactor = redactor.hiding(Array(secrets))
  }

  func recording() -> Recording { recording(of: calls, dropped: stored.dropped) }

  /// Returns the recording of some calls, in which the secrets of all calls are hidden.
  func recording(of ids: Set<Call.ID>) -> Recording {
    recording(of: calls.filter { ids.contains($0.call.id) }, dropped: 0)
  }

  private func recording(of calls: [Entry], dropped: Int) -> Recording {
    Recording(
      startedAt: stored.origin?.date ?? Date(timeIntervalSince1970: 0), calls: calls.map(call), droppedCalls: dropped)
  }

  private func call(_ call: StoredCall, _ decisions: [Call.Event]) -> RecordedCall {
    RecordedCall(
      number: call.id.number, parent: call.parent.map { (served[$0] ?? $0).number }, purpose: call.purpose,
      method: call.method?.rawValue ?? "?", url: call.url.map { redactor.redact($0) } ?? "(no URL)",
      endpoint: redactor.redact(text: call.endpoint), startedAt: call.startedAt - origin,
      endedAt: call.endedAt.map { $0 - origin }, outcome: outcome(call.outcome), source: call.source,
      sends: call.sends.enumerated().map { send($1, number: $0 + 1) },
      decisions: decisions.map(decision))
  }

  private func outcome(_ outcome: RecordedCall.Outcome) -> RecordedCall.Outcome {
    guard case .failure(let code, let message) = outcome else { return outcome }
    return .failure(code: code, message: redactor.redact(text: message))
  }

  private func decision(_ event: Call.Event) -> RecordedDecision {
    RecordedDecision(
      at: event.at - origin, duration: event.duration, source: event.source,
      message: redactor.redact(text: event.message), kind: event.kind)
  }

  private func send(_ send: StoredSend, number: Int) -> RecordedSend {
    RecordedSend(
      number: number, method: send.method.rawValue, url: redactor.redact(send.url), startedAt: send.startedAt - origin,
      endedAt: send.endedAt.map { $0 - origin },
      outcome: RecordedSend.Outcome(send.outcome, redactor),
      timings: send.timings?.since(origin), requestHeaders: redactor.redact(send.requestHeaders),
      responseHeaders: redactor.redact(send.responseHeaders), requestBytes: send.requestBytes,
      requestBody: excerpt(send.requestBody, of: send.requestType, length: Int(clamping: send.requestBytes ?? 0)),
      responseBody: excerpt(send.responseBody, of: send.responseHeaders[.contentType], length: send.responseBytes),
      chunks: send.chunks.map { RecordedSend.Chunk(at: $0.at - origin, bytes: $0.bytes) })
  }

  private func excerpt(_ body: Data?, of type: String?, length: Int) -> String? {
    guard bodyLimit > 0, let body, !body.isEmpty else { return nil }
    return redactor.redact(body: body, of: length, contentType: type, limit: bodyLimit)
  }
}

extension RecordedSend.Outcome {
  /// Takes the outcome of an attempt, with the secrets of its message hidden.
  init(_ outcome: Attempt.Outcome, _ redactor: Redactor) {
    self =
      switch outcome {
      case .pending: .underWay
      case .response(let statusCode, let bytes): .response(statusCode: statusCode, bytes: bytes)
      case .failure(let code, let message): .failure(code: code?.rawValue, message: redactor.redact(text: message))
      case .cancelled: .cancelled
      }
  }
}

extension ResponseTimings {
  /// Returns the times since another one.
  func since(_ origin: Duration) -> ResponseTimings {
    var timings = self
    timings.sent -= origin
    timings.firstByte = timings.firstByte.map { $0 - origin }
    timings.lastByte = timings.lastByte.map { $0 - origin }
    return timings
  }
}

extension StoredCall {
  /// Returns the values that are secret in the call and its sends.
  func secrets(for redactor: Redactor) -> Set<String> {
    var found: Set<String> = []
    for known in secrets { found.formUnion(known.values(for: redactor)) }
    if let url { found.formUnion(redactor.secrets(inQueryOf: url)) }
    for send in sends {
      found.formUnion(redactor.secrets(in: send.requestHeaders))
      found.formUnion(redactor.secrets(in: send.responseHeaders))
      found.formUnion(redactor.secrets(inQueryOf: send.url))
      if let body = send.requestBody {
        found.formUnion(redactor.secrets(inBody: body, contentType: send.requestType))
      }
      if let body = send.responseBody {
        found.formUnion(redactor.secrets(inBody: body, contentType: send.responseHeaders[.contentType]))
      }
    }
    return found
  }
}
