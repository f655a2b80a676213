import Foundation

/// The recorder that has more facts of a call which failed; the other calls store none, so that they pay nothing.
enum FailureRecorderKey: CallKey {
  static let defaultValue: CallRecorder? = nil
}

// What a ``RecordingBehavior`` reports.
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
    let body = request.body?.data.flatMap(bodies.beginning)
    let length = request.body?.length
    let type = request.headers[.contentType] ?? request.body?.contentType
    let size = 500 + request.url.size + request.headers.size + (body?.count ?? 0)
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
      let size = call.sends[send].note(attempt)
      return size + (place.isOfFlight ? call.note(flight: request.call) : 0)
    }
  }

  func note(_ response: NetworkResponse, at place: SendPlace) {
    var body: Data?
    var count = 0
    if bodies.limit > 0, case .data(let data) = response.body {
      body = bodies.beginning(of: data)
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
    let bodies = bodies
    change(place) { call, send in
      let size = call.sends[send].note(RecordedSend.Chunk(at: time, bytes: chunk.count))
      return size + bodies.add(chunk, to: &call.sends[send].responseBody)
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
    let (events, secrets, owner) = (call.ownEvents, call.secrets, call.owner)
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
        return stored.end(events, secrets, owner) + outcome.size
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
  /// The estimated size in memory, beside the call.
  fileprivate var size: Int { if case .failure(_, let message) = self { message.utf8.count } else { 0 } }

  fileprivate init(_ error: (any Error)?, _ statusCode: Int?) {
    switch error {
    case nil: self = statusCode.map { .response(statusCode: $0) } ?? .cancelled
    case is CancellationError: self = .cancelled
    case let error as NetworkError: self = .failure(code: error.code.rawValue, message: error.message)
    case let error?: self = .failure(code: nil, message: "\(error)")
    }
  }
}

extension HeaderFields {
  /// The estimated size in memory.
  fileprivate var size: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 48 } }
}
