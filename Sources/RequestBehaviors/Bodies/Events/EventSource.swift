/// The source of events: a body, and the bodies of further requests if there is a rule for them.
struct EventSource: Sendable {
  /// Returns the response to a request that continues after an id, which is empty at first; `nil` if there are no more
  /// events.
  typealias Opener = @Sendable (_ lastEventID: String) async throws -> NetworkResponse?

  /// The rule for further requests; `nil` for no further request.
  var reconnection: EventReconnection?
  /// The id that the first request sends; empty if it sends no id.
  var lastEventID = ""
  /// The mapping of the errors that leave the iteration.
  var errorMapping: ErrorMapping?
  /// Makes the opener of one iteration.
  let makeOpener: @Sendable () -> Opener
}
