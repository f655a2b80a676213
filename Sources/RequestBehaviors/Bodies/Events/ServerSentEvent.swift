/// An event of a `text/event-stream` (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
  /// The type of the event: the value of `event`, or `message` if the event had no such field.
  public var type: String

  /// The values of the `data` fields, separated by LF.
  public var data: String

  /// The latest `id` up to and including this event; empty if there was no id.
  ///
  /// A further request sends it as `Last-Event-ID` to continue after this event.
  public var id: String

  /// The latest `retry` up to and including this event: how long to wait before a further request; `nil` if there was
  /// no such field.
  public var retry: Duration?

  /// Creates an event.
  ///
  /// - Parameters:
  ///   - type: The type of the event; `message` by default.
  ///   - data: The data.
  ///   - id: The latest id; empty by default.
  ///   - retry: The latest wait that the server asked for; `nil` by default.
  public init(type: String = "message", data: String, id: String = "", retry: Duration? = nil) {
    self.type = type
    self.data = data
    self.id = id
    self.retry = retry
  }
}
