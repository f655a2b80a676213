import Foundation

/// The server-sent events of a body as they arrive (WHATWG HTML §9.2).
///
/// ```swift
/// let response = try await client.stream(
///   .post("chat", body: .json(question)))
/// let deltas = response.events
///   .until { $0.data == "[DONE]" }
///   .decode(Delta.self)
/// for try await delta in deltas { show(delta.text) }
/// ```
///
/// An event that the end of the body cuts off is dropped, as the standard requires. An event that is longer than
/// ``limit(bytes:)`` ends the events with ``NetworkError/Code-swift.struct/lineTooLong``.
///
/// Ending the iteration early, for example by `break`, cancels a streamed body.
/// ``NetworkClient/events(_:reconnecting:)`` connects again when a stream has ended.
public struct ResponseEvents: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = ServerSentEvent

  let source: EventSource
  var settings = Settings()

  struct Settings: Sendable {
    var limit = LineSplitter.standardLimit
    var idleTimeout: Duration?
    var isEnd: (@Sendable (ServerSentEvent) -> Bool)?
  }

  /// Returns the events before an end marker, such as `[DONE]`.
  ///
  /// The end marker is not delivered, no byte after it is read, and no further request is made.
  ///
  /// - Parameter isEnd: Whether an event is the end marker.
  /// - Returns: The events.
  public func until(_ isEnd: @escaping @Sendable (ServerSentEvent) -> Bool) -> ResponseEvents {
    changed { $0.isEnd = isEnd }
  }

  /// Returns the same events with a limit to the wait for each.
  ///
  /// Comments, by which servers keep a connection alive, do not count as events. ``RequestOptions/idleTimeout`` is for
  /// connections without any bytes. The time runs on the clock of the call while an event is awaited. With a rule for
  /// reconnecting, another request follows when it is over.
  ///
  /// - Parameter limit: How long an event may take before the events end with
  ///   ``NetworkError/Code-swift.struct/timedOut``; `nil`, the default, for no limit.
  /// - Returns: The events.
  public func idleTimeout(_ limit: Duration?) -> ResponseEvents { changed { $0.idleTimeout = limit } }

  /// Returns the same events with another limit to their length.
  ///
  /// - Parameter bytes: The maximum number of bytes of a line, and of the kept lines of one event; 1 MiB by default.
  /// - Returns: The events.
  public func limit(bytes: Int) -> ResponseEvents { changed { $0.limit = bytes } }

  /// Returns the values of events whose data are JSON; see ``JSONEvents``.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) -> JSONEvents<Value> {
    JSONEvents(events: self)
  }

  /// Creates the iterator.
  ///
  /// A streamed body can be iterated only once.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: EventReader(source, settings)) }

  /// Delivers the events.
  public struct Iterator: AsyncIteratorProtocol {
    var reader: EventReader

    /// Returns the next event; `nil` at the end.
    ///
    /// - Throws: ``NetworkError``, `CancellationError` if the task is cancelled, or the error of the body.
    public mutating func next() async throws -> ServerSentEvent? { try await next(isolation: #isolation) }

    /// Returns the next event in the isolation of the caller; `nil` at the end.
    ///
    /// - Throws: As ``next()`` does.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
      do {
        // Most events have arrived together with an earlier one.
        if let event = try reader.nextArrived() { return event }
        return try await reader.next()
      } catch {
        throw reader.errorMapping(error)
      }
    }
  }

  private func changed(_ change: (inout Settings) -> Void) -> ResponseEvents {
    var events = self
    change(&events.settings)
    return events
  }
}

/// The values of server-sent events whose data are JSON, as they arrive.
///
/// The configuration's decoder decodes each event in the caller's isolation, so a value need not be `Sendable`. Events
/// with empty data are skipped. An event that cannot be decoded ends the values with
/// ``NetworkError/Code-swift.struct/decodingFailed``. The message has the number of the event, from 1, and its data as
/// redacted by the ``Redactor``.
public struct JSONEvents<Value: Decodable>: AsyncSequence, Sendable {
  /// The value of an event.
  public typealias Element = Value

  let events: ResponseEvents

  /// Creates the iterator.
  ///
  /// A streamed body can be iterated only once.
  public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

  /// Delivers the values.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var events: ResponseEvents.Iterator
    private var number = 0

    fileprivate init(events: ResponseEvents.Iterator) { self.events = events }

    /// Returns the value of the next event; `nil` at the end.
    ///
    /// - Throws: ``NetworkError``, `CancellationError` if the task is cancelled, or the error of the body.
    public mutating func next() async throws -> Value? { try await next(isolation: #isolation) }

    /// Returns the value of the next event in the isolation of the caller; `nil` at the end.
    ///
    /// - Throws: As ``next()`` does.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
      do { return try await nextValue() } catch { throw events.reader.errorMapping(error) }
    }

    private mutating func nextValue() async throws -> Value? {
      while let event = try await events.reader.next() {
        number += 1
        guard !event.data.isEmpty, let response = events.reader.response else { continue }
        let bytes = Data(event.data.utf8)
        do {
          return try response.request.call.decoder.decode(Value.self, from: bytes)
        } catch {
          let error = NetworkError.decodingFailed(error, as: Value.self, response.part(bytes), place: "event \(number)")
          events.reader.end(throwing: error)
          throw error
        }
      }
      return nil
    }
  }
}

extension NetworkResponse {
  /// The server-sent events of the body, in memory or streamed.
  public var events: ResponseEvents {
    let response = original
    return ResponseEvents(source: EventSource(errorMapping: errorMapping) { { _ in response } })
  }
}
