import Foundation

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

extension ServerSentEvent {
  /// Returns the data as JSON of a type, for a stream whose events differ by ``type``.
  ///
  /// ```swift
  /// let events = client.events(.post("chat", body: .json(prompt)))
  /// for try await event in events {
  ///   switch event.type {
  ///   case "part": show(try event.decode(Part.self).text)
  ///   case "usage": note(try event.decode(Usage.self).tokens)
  ///   default: continue
  ///   }
  /// }
  /// ```
  ///
  /// ``ResponseEvents/decode(_:)`` decodes the events of a stream that are all of one type.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - decoder: The decoder; by default the one that configurations have by default.
  /// - Returns: The value.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/decodingFailed``, with the place and with the
  ///   data as redacted by the ``Redactor``.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, with decoder: any BodyDecoder = RequestConfiguration.jsonDecoder
  ) throws -> Value {
    let bytes = Data(data.utf8)
    do {
      return try decoder.decode(Value.self, from: bytes)
    } catch {
      let request = NetworkRequest(url: URL(filePath: "/"))
      let response = NetworkResponse(request: request, statusCode: 200).part(bytes)
      var failure = NetworkError.decodingFailed(error, as: Value.self, response, place: "event \(self.type)")
      // The event does not know the request that it came from.
      failure.request = nil
      failure.response = nil
      throw failure
    }
  }
}
