import Foundation
package import RequestBehaviors

/// A response of the server, or a stored one that replaces it.
struct FetchedResponse: Sendable {
  let response: NetworkResponse
  /// The fetch that it came from; `nil` if it is a stored one.
  private(set) var fetch: CacheActivity.Fetch?

  init(response: NetworkResponse, fetch: CacheActivity.Fetch?) {
    self.response = response
    self.fetch = fetch
    self.fetch?.sentAt = response.sentAt
  }

  /// Records that the fetch has ended.
  func end(_ activity: CacheActivity) {
    if let fetch { activity.end(fetch) }
  }

  /// When the request was sent and when the response came, by the wall clock.
  ///
  /// The time of earlier attempts does not count.
  var times: (request: Date, response: Date) {
    let clock = response.request.call.clock
    let (date, now) = (clock.date(), clock.now())
    func moment(_ time: Duration) -> Date { date.addingTimeInterval(-max(0, (now - time).inSeconds)) }
    let arrival = response.timings.firstByte ?? response.timings.lastByte ?? response.timings.sent
    return (moment(response.timings.sent), moment(arrival))
  }

  /// Whether an error is a failure of the server or of the way to it, which a stale response may replace.
  ///
  /// A server that is not the right one, or a response that may be another's, is no such failure: old data must not
  /// hide an untrusted certificate, a portal or an attack.
  ///
  /// The cancellation of a call by its deadline counts as one; a cancellation by the user does not. If the request's
  /// token could not be got, the reason counts.
  static func isServerFailure(_ error: any Error, call: Call) -> Bool {
    if error is CancellationError { return call.isLate }
    guard let error = error as? NetworkError else { return false }
    if error.code.kinds.contains(.staleInstead) { return true }
    guard error.code == .tokenUnavailable, let cause = error.underlyingError as? NetworkError else { return false }
    return cause.statusCode.map(StatusCodes.staleInstead.contains) == true || isServerFailure(cause, call: call)
  }
}

extension NetworkResponse {
  /// When the request was sent to which the response came, on the clock of the call.
  ///
  /// It is the call's own record: a transport may leave the timings out.
  package var sentAt: Duration {
    let attempts = request.call.attempts
    return (attempts.first { $0.number == request.attemptNumber } ?? attempts.last)?.startedAt ?? timings.sent
  }
}
