/// An event of a `text/event-stream` (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
  /// What kind of event it is: the value of `event`, `message` if there was none.
  public var type: String

  /// The values of the `data` fields, separated by LF.
  public var data: String

  /// The latest `id` up to and including this event; empty if there was none.
  ///
  /// It is what a further request sends as `Last-Event-ID` to go on after this event.
  public var id: String

  /// The latest `retry` up to and including this event: how long to wait before a further request; `nil` if there was
  /// none.
  public var retry: Duration?

  /// Creates an event.
  ///
  /// - Parameters:
  ///   - type: What kind of event it is; `message` by default.
  ///   - data: The data.
  ///   - id: The latest id; empty by default.
  ///   - retry: The latest wait that the server asked for; none by default.
  public init(type: String = "message", data: String, id: String = "", retry: Duration? = nil) {
    self.type = type
    self.data = data
    self.id = id
    self.retry = retry
  }
}
