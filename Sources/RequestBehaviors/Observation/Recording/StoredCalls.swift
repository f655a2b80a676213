import Foundation

/// The number of a send, and the call under which it is kept.
struct SendPlace: Sendable, Hashable {
  /// The call that a user made, or that one needed.
  let call: Call.ID
  /// The call that made the send: another one for a shared flight.
  let sender: Call.ID
  let number: Int

  init(_ request: NetworkRequest) {
    call = request.call.servedID
    sender = request.call.id
    number = request.attemptNumber
  }
}

/// The facts of one send, not redacted yet.
struct StoredSend: Sendable {
  let place: SendPlace
  let method: RequestMethod
  let url: URL
  let startedAt: Duration
  let requestHeaders: HeaderFields
  let requestBytes: Int64?
  let requestBody: Data?
  let requestType: String?
  var attempt: Attempt?
  var responseHeaders = HeaderFields()
  /// The beginning of the response's body, and the length of what has arrived.
  var responseBody: Data?
  var responseBytes = 0
  var chunks: [RecordedSend.Chunk] = []
  /// The most chunks of one send; those that follow are not kept.
  static let chunkLimit = 1_000
}

/// The facts of one call, not redacted yet.
struct StoredCall: Sendable {
  let id: Call.ID
  let parent: Call.ID?
  let purpose: Call.Purpose
  let method: String
  let url: URL?
  let endpoint: String
  let startedAt: Duration
  var endedAt: Duration?
  var outcome = RecordedCall.Outcome.underWay
  var source: ResponseSource?
  var sends: [StoredSend] = []
  /// The decisions of the call and of the shared flights that it began.
  var decisions: [Decision] = []
  /// The secrets of the call, as of the latest that it did.
  var secrets = CallSecrets()
  /// The secrets of the shared flights that it began.
  var flightSecrets: [Call.ID: CallSecrets] = [:]
  /// The estimated size in bytes.
  var size = 700

  /// A decision, and the call that made it.
  struct Decision: Sendable {
    let call: Call.ID
    var event: Call.Event
  }

  init(_ call: Call, _ request: NetworkRequest?) {
    id = call.id
    parent = call.parent
    purpose = call.purpose
    method = request?.method.rawValue ?? "?"
    url = request?.url
    endpoint = request?.endpoint ?? ""
    startedAt = call.startedAt
    secrets = call.secrets
  }

  /// Notes the secrets of this call, or of a shared flight that it began.
  ///
  /// They are noted at every step, because a call that hangs is looked at before its end.
  mutating func note(_ secrets: CallSecrets, of call: Call.ID) {
    if call == id { self.secrets = secrets } else { flightSecrets[call] = secrets }
  }

  /// Replaces the decisions of a call by the same ones with the lengths of waits that have ended.
  mutating func update(_ events: [Call.Event], of call: Call.ID) {
    let isUpToDate =
      decisions.reduce(0) { $0 + ($1.call == call ? 1 : 0) } == events.count
      && !decisions.contains { $0.call == call && $0.event.isUnderWay }
    if isUpToDate { return }
    decisions.removeAll { $0.call == call }
    decisions += events.map { Decision(call: call, event: $0) }
    decisions.sort { $0.event.at < $1.event.at }
  }
}

/// The calls of a recorder, within its limits.
struct StoredCalls: Sendable {
  /// The date and the time on the calls' clock of the first call.
  var origin: (date: Date, time: Duration)?
  private(set) var calls: [Call.ID: StoredCall] = [:]
  private var order: [Call.ID] = []
  /// The index of the oldest call in `order`.
  private var first = 0
  private var size = 0
  private(set) var dropped = 0

  /// The calls in the order in which they began.
  var inOrder: [StoredCall] { order[first...].compactMap { calls[$0] } }

  mutating func insert(_ call: StoredCall, _ limits: RecordingLimits) {
    if calls.updateValue(call, forKey: call.id) == nil { order.append(call.id) }
    size += call.size
    trim(to: limits)
  }

  /// Changes a call that is kept, and adds to its size the number of bytes that the closure returns.
  mutating func change(_ id: Call.ID, _ limits: RecordingLimits, _ change: (inout StoredCall) -> Int) {
    guard let place = calls.index(forKey: id) else { return }
    let added = change(&calls.values[place])
    calls.values[place].size += added
    size += added
    if added > 0 { trim(to: limits) }
  }

  private mutating func trim(to limits: RecordingLimits) {
    while order.count - first > 1, order.count - first > limits.calls || size > limits.bytes {
      if let oldest = calls.removeValue(forKey: order[first]) { size -= oldest.size }
      first += 1
      dropped += 1
    }
    guard first > 1_000 else { return }
    order.removeFirst(first)
    first = 0
  }
}

extension HeaderFields {
  /// The estimated size in memory.
  fileprivate var size: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 48 } }
}

// MARK: - What the behavior reports

extension CallRecorder {
  func begin(_ request: NetworkRequest) {
    let call = StoredCall(request.call, request)
    state.withLock { state in
      if state.origin == nil { state.origin = (request.call.clock.date(), call.startedAt) }
      state.insert(call, limits)
    }
  }

  func beginSend(_ request: NetworkRequest) {
    let place = SendPlace(request)
    var body: Data?
    if bodies.limit > 0, let data = request.body?.data { body = Data(data.prefix(bodies.limit)) }
    let send = StoredSend(
      place: place, method: request.method, url: request.url, startedAt: request.call.clock.now(),
      requestHeaders: request.headers, requestBytes: request.body?.length, requestBody: body,
      requestType: request.headers[.contentType] ?? request.body?.contentType)
    let secrets = request.call.secrets
    state.withLock { state in
      state.change(place.call, limits) { call in
        call.sends.append(send)
        call.note(secrets, of: place.sender)
        return 500 + request.headers.size + (body?.count ?? 0)
      }
    }
  }

  func note(_ attempt: Attempt, of request: NetworkRequest) {
    let place = SendPlace(request)
    // A shared flight has no end of its own, so its waits are read here.
    let events = place.call == place.sender ? nil : request.call.events
    let secrets = place.call == place.sender ? nil : request.call.secrets
    change(place) { call, send in
      call.sends[send].attempt = attempt
      if let events { call.update(events, of: place.sender) }
      if let secrets { call.note(secrets, of: place.sender) }
      return 0
    }
  }

  func note(_ response: NetworkResponse, at place: SendPlace) {
    var body: Data?
    var count = 0
    if bodies.limit > 0, case .data(let data) = response.body {
      body = Data(data.prefix(bodies.limit))
      count = data.count
    }
    let headers = response.headers
    change(place) { call, send in
      call.sends[send].responseHeaders = headers
      call.sends[send].responseBody = body
      call.sends[send].responseBytes = count
      return headers.size + (body?.count ?? 0)
    }
  }

  func note(_ chunk: Data, at time: Duration, of place: SendPlace) {
    let limit = bodies.limit
    change(place) { call, send in
      call.sends[send].responseBytes += chunk.count
      guard call.sends[send].chunks.count < StoredSend.chunkLimit else { return 0 }
      call.sends[send].chunks.append(RecordedSend.Chunk(at: time, bytes: chunk.count))
      let kept = call.sends[send].responseBody?.count ?? 0
      guard kept < limit else { return 24 }
      call.sends[send].responseBody = (call.sends[send].responseBody ?? Data()) + chunk.prefix(limit - kept)
      return 24 + min(chunk.count, limit - kept)
    }
  }

  func note(_ event: Call.Event, of call: Call) {
    let (id, served, secrets) = (call.id, call.servedID, call.secrets)
    state.withLock { state in
      state.change(served, limits) { stored in
        stored.note(secrets, of: id)
        stored.decisions.append(StoredCall.Decision(call: id, event: event))
        return 150 + event.message.utf8.count
      }
    }
  }

  func end(_ report: CallReport) {
    let call = report.call
    let outcome = RecordedCall.Outcome(report)
    let (events, secrets) = (call.events, call.secrets)
    // The error may be of a shared flight, whose sends are kept under this call.
    if let error = report.error as? NetworkError { (error.request?.call ?? call).noteFailure(recordedBy: self) }
    state.withLock { state in
      // A call whose request could not be built never began.
      if report.phase == .building {
        if state.origin == nil { state.origin = (call.clock.date(), call.startedAt) }
        state.insert(StoredCall(call, report.request), limits)
      }
      state.change(call.id, limits) { stored in
        stored.endedAt = call.startedAt + report.duration
        stored.outcome = outcome
        stored.source = report.response?.source
        stored.update(events, of: call.id)
        stored.note(secrets, of: call.id)
        return 100
      }
    }
  }

  /// Changes a send that is kept.
  private func change(_ place: SendPlace, _ change: (inout StoredCall, Int) -> Int) {
    state.withLock { state in
      state.change(place.call, limits) { call in
        guard let send = call.sends.lastIndex(where: { $0.place == place }) else { return 0 }
        return change(&call, send)
      }
    }
  }
}

extension RecordedCall.Outcome {
  fileprivate init(_ report: CallReport) {
    switch report.error {
    case nil: self = report.response.map { .response(statusCode: $0.statusCode) } ?? .cancelled
    case is CancellationError: self = .cancelled
    case let error as NetworkError: self = .failure(code: error.code.rawValue, message: error.message)
    case let error?: self = .failure(code: nil, message: "\(error)")
    }
  }
}
