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

  /// Whether a shared flight makes the send.
  var isOfFlight: Bool { call != sender }
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
  var endedAt: Duration?
  var outcome = Attempt.Outcome.pending
  var timings: ResponseTimings?
  var responseHeaders = HeaderFields()
  /// The beginning of the response's body, and the length of what has arrived.
  var responseBody: Data?
  var responseBytes = 0
  var chunks: [RecordedSend.Chunk] = []
  /// The most chunks of one send; those that follow are not kept.
  static let chunkLimit = 1_000

  /// Takes the facts of an attempt that are not known when it begins.
  mutating func note(_ attempt: Attempt) {
    (endedAt, outcome, timings) = (attempt.endedAt, attempt.outcome, attempt.timings)
  }
}

/// The facts of one call, not redacted yet.
struct StoredCall: Sendable {
  let id: Call.ID
  let parent: Call.ID?
  let purpose: Call.Purpose
  let method: RequestMethod?
  let url: URL?
  let endpoint: String
  let startedAt: Duration
  /// The call itself while it is under way, for its decisions and secrets; `nil` when it has ended.
  ///
  /// It refers to no request or response, and every call ends.
  private(set) var call: Call?
  var endedAt: Duration?
  var outcome = RecordedCall.Outcome.underWay
  var source: ResponseSource?
  var sends: [StoredSend] = []
  /// The decisions of the call, as of its end.
  private var ownDecisions: [Call.Event] = []
  /// The secrets of the call, as of its end.
  private var ownSecrets: CallSecrets?
  /// The decisions and secrets of the shared flights that the call began, which have no end of their own.
  private var flights: [Flight] = []
  /// The estimated size in bytes.
  var size = 700

  /// The facts about a shared flight.
  private struct Flight: Sendable {
    let id: Call.ID
    var decisions: [Call.Event]
    var secrets: CallSecrets
  }

  init(_ call: Call, _ method: RequestMethod? = nil, _ url: URL? = nil, endpoint: String = "") {
    (id, parent, purpose, startedAt, self.call) = (call.id, call.parent, call.purpose, call.startedAt, call)
    (self.method, self.url, self.endpoint) = (method, url, endpoint)
  }

  /// The decisions of the call and of its flights.
  var decisions: [Call.Event] {
    let own = call?.events ?? ownDecisions
    return flights.isEmpty ? own : (own + flights.flatMap(\.decisions)).sorted { $0.at < $1.at }
  }

  /// The secrets of the call and of its flights.
  var secrets: [CallSecrets] { [call?.secrets ?? ownSecrets].compactMap(\.self) + flights.map(\.secrets) }

  /// Notes what a shared flight has decided, and its secrets, as of now.
  mutating func note(flight: Call) -> Int {
    let events = flight.events
    let index = flights.firstIndex { $0.id == flight.id } ?? flights.endIndex
    if index == flights.endIndex { flights.append(Flight(id: flight.id, decisions: [], secrets: flight.secrets)) }
    let added = events[min(flights[index].decisions.count, events.count)...]
    flights[index].decisions = events
    flights[index].secrets = flight.secrets
    return added.reduce(0) { $0 + StoredCall.size(of: $1) }
  }

  /// Lets go of the call, and keeps what is known of it at its end.
  mutating func end(_ decisions: [Call.Event], _ secrets: CallSecrets) -> Int {
    (call, ownDecisions, ownSecrets) = (nil, decisions, secrets)
    return decisions.reduce(100) { $0 + StoredCall.size(of: $1) }
  }

  /// Makes a change, and adds the number of bytes that it returns to the size.
  fileprivate mutating func change(by change: (inout StoredCall) -> Int) -> Int {
    let added = change(&self)
    size += added
    return added
  }

  private static func size(of decision: Call.Event) -> Int { 150 + decision.message.utf8.count }
}

/// The calls of a recorder, within its limits.
struct StoredCalls: Sendable {
  /// The date and the time on the calls' clock of the first call.
  private(set) var origin: (date: Date, time: Duration)?
  // Sorted by number, which is nearly the order in which calls begin: a search is shorter than a hash, and to drop the
  // oldest needs no hash at all.
  private var numbers: [UInt64] = []
  private var calls: [StoredCall?] = []
  /// The index of the oldest call; those before it are dropped.
  private var first = 0
  private var size = 0
  private(set) var dropped = 0

  /// The calls in the order in which they were made.
  var inOrder: [StoredCall] { calls[first...].compactMap(\.self) }

  /// Notes the time from which others count, if this is the first call.
  mutating func begin(_ call: Call) {
    if origin == nil { origin = (call.clock.date(), call.startedAt) }
  }

  mutating func insert(_ call: consuming StoredCall, _ limits: RecordingLimits) {
    let number = call.id.number
    size += call.size
    if number > numbers.last ?? 0 {
      numbers.append(number)
      calls.append(consume call)
    } else {
      insert(late: consume call)
    }
    trim(to: limits)
  }

  /// Inserts a call that was made before the latest one.
  private mutating func insert(late call: StoredCall) {
    let number = call.id.number
    let place = place(of: number)
    // With two behaviors that tell one recorder, every call begins twice.
    guard numbers[place] != number else {
      size -= call.size
      return
    }
    numbers.insert(number, at: place)
    calls.insert(call, at: place)
  }

  /// Changes a call that is kept, and adds to its size the number of bytes that the closure returns.
  mutating func change(_ id: Call.ID, _ limits: RecordingLimits, _ change: (inout StoredCall) -> Int) {
    let place = place(of: id.number)
    guard place < numbers.endIndex, numbers[place] == id.number, let added = calls[place]?.change(by: change) else {
      return
    }
    size += added
    if added > 0 { trim(to: limits) }
  }

  /// The index of the first call whose number is not smaller.
  private func place(of number: UInt64) -> Int {
    // Most often it is the latest one.
    guard let last = numbers.last, last >= number else { return numbers.endIndex }
    var (low, high) = (first, numbers.count - 1)
    if last == number { return high }
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func trim(to limits: RecordingLimits) {
    while numbers.count - first > 1, numbers.count - first > limits.calls || size > limits.bytes {
      size -= StoredCalls.empty(&calls[first])
      first += 1
      dropped += 1
    }
    guard first > 1_000, first > numbers.count / 2 else { return }
    numbers.removeFirst(first)
    calls.removeFirst(first)
    first = 0
  }

  /// Drops a call, in its place rather than through a copy, and returns its size.
  private static func empty(_ place: inout StoredCall?) -> Int {
    defer { place = nil }
    return place?.size ?? 0
  }
}

extension HeaderFields {
  /// The estimated size in memory.
  fileprivate var size: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 48 } }
}

/// The recorder that has more facts of a call which failed; the other calls store none, so that they pay nothing.
enum FailureRecorderKey: CallKey {
  static let defaultValue: CallRecorder? = nil
}

// MARK: - What the behavior reports

extension CallRecorder {
  func begin(_ request: NetworkRequest) {
    state.withLock { state in
      state.begin(request.call)
      state.insert(StoredCall(request.call, request.method, request.url, endpoint: request.endpoint), limits)
    }
  }

  func beginSend(_ request: NetworkRequest) {
    let place = SendPlace(request)
    let now = request.call.clock.now()
    var body: Data?
    if bodies.limit > 0, let data = request.body?.data { body = Data(data.prefix(bodies.limit)) }
    let length = request.body?.length
    let type = request.headers[.contentType] ?? request.body?.contentType
    let size = 500 + request.headers.size + (body?.count ?? 0)
    state.withLock { state in
      state.change(place.call, limits) { call in
        guard call.sends.last?.place != place else { return 0 }
        call.sends.append(
          StoredSend(
            place: place, method: request.method, url: request.url, startedAt: now, requestHeaders: request.headers,
            requestBytes: length, requestBody: body, requestType: type))
        return size + (place.isOfFlight ? call.note(flight: request.call) : 0)
      }
    }
  }

  func note(_ attempt: Attempt, of request: NetworkRequest) {
    let place = SendPlace(request)
    change(place) { call, send in
      call.sends[send].note(attempt)
      return place.isOfFlight ? call.note(flight: request.call) : 0
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

  /// Notes a decision of a shared flight; those of other calls are read at their ends.
  func noteDecision(of call: Call) {
    let served = call.servedID
    guard served != call.id else { return }
    state.withLock { state in
      state.change(served, limits) { $0.note(flight: call) }
    }
  }

  func end(_ report: CallReport) {
    let call = report.call
    let response = report.response
    let outcome = RecordedCall.Outcome(report.error, response?.statusCode)
    let source = response?.source
    let (events, secrets) = (call.events, call.secrets)
    // The error may be of a shared flight, whose sends are kept under this call.
    if let error = report.error as? NetworkError { (error.request?.call ?? call)[FailureRecorderKey.self] = self }
    state.withLock { state in
      // A call whose request could not be built never began.
      if report.phase == .building {
        state.begin(call)
        state.insert(StoredCall(call), limits)
      }
      state.change(call.id, limits) { stored in
        stored.endedAt = call.startedAt + report.duration
        stored.outcome = outcome
        stored.source = source
        return stored.end(events, secrets)
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
  fileprivate init(_ error: (any Error)?, _ statusCode: Int?) {
    switch error {
    case nil: self = statusCode.map { .response(statusCode: $0) } ?? .cancelled
    case is CancellationError: self = .cancelled
    case let error as NetworkError: self = .failure(code: error.code.rawValue, message: error.message)
    case let error?: self = .failure(code: nil, message: "\(error)")
    }
  }
}
