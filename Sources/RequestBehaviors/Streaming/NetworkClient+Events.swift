import Foundation

extension NetworkClient {
  /// Sends a request and returns the server-sent events of its response (WHATWG HTML §9.2).
  ///
  /// ```swift
  /// let feed = client.events(
  ///   .get("feed"), reconnecting: .automatic)
  /// for try await event in feed where event.type == "price" {
  ///   show(event.data)
  /// }
  /// ```
  ///
  /// The request is sent when the first event is wanted, and again for every further iteration. A response of status 204
  /// has no events. One that is no `text/event-stream` fails with
  /// ``NetworkError/Code-swift.struct/unexpectedContentType``, unless ``RequestOptions/acceptableContentTypes`` has its
  /// type. No cache takes part.
  ///
  /// With a rule for reconnecting, a stream that ends or breaks off is followed by another request for the same, once
  /// the first one has been accepted. It is a call of its own with its own token and attempts, and sends the id of the
  /// latest event as `Last-Event-ID`. Only `GET` requests are made again. The events end for good with a 204, another
  /// content type, an unacceptable status, and an error that is not transient. They are one user's: when another one has
  /// signed in or out meanwhile, they end with ``NetworkError/Code-swift.struct/signedOut``.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - reconnection: When the request is made again; `nil`, the default, for never.
  /// - Returns: The events; iterating throws what a request fails with.
  public func events(
    _ request: Request<NetworkResponse>, reconnecting reconnection: EventReconnection? = nil
  ) -> ResponseEvents {
    ResponseEvents(source: EventSource(self, request, reconnection))
  }
}

extension EventSource {
  fileprivate init(
    _ client: NetworkClient, _ original: Request<NetworkResponse>, _ reconnection: EventReconnection?
  ) {
    var request = original
    if !request.headers.contains("Accept") { request.headers["Accept"] = "text/event-stream" }
    request.options.caching = .noStore
    request.options.timesEndAtHead = true
    let first = request
    self.init(reconnection: reconnection, lastEventID: request.headers["Last-Event-ID"] ?? "") {
      // Each iteration begins anew, for whoever is signed in then.
      let user = EventUser()
      return { lastEventID in
        guard reconnection == nil || first.method == .get else { throw NetworkError.notReconnectable(first.method) }
        var request = first
        // Outer spaces are not part of a field's value (RFC 9110 §5.5). An id with a control character cannot be sent,
        // and an empty one resets it.
        let id = HTTPSyntax.withoutOuterSpace(lastEventID)
        request.headers["Last-Event-ID"] = !id.isEmpty && HTTPSyntax.isFieldValue(id) ? id : nil
        if reconnection != nil { request.behaviors.append(SameUserBehavior(user: user)) }
        return try await client.stream(request).eventStream()
      }
    }
  }
}

/// For whom the first call of several was made.
private final class EventUser: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var scopes: [String]?

  /// Whether a call is for the same as the first one.
  func includes(_ call: Call) -> Bool {
    lock.withLock {
      guard let scopes else {
        scopes = call.scopes
        return true
      }
      return scopes == call.scopes
    }
  }
}

/// Lets no request of a series go for another user than the first one.
private struct SameUserBehavior: RequestBehavior {
  let order = BehaviorOrder.first
  let user: EventUser

  func modify(_ request: inout NetworkRequest) async throws {
    guard user.includes(request.call) else { throw NetworkError.eventsOfAnotherUser() }
    // While the request waited further in, somebody else may have signed in.
    request.call.addSendCheck { request in
      guard request.call.keepsScopes else { throw NetworkError.eventsOfAnotherUser() }
    }
  }
}

extension NetworkResponse {
  /// Returns the response if it has events; `nil` if it says that there are no more.
  ///
  /// - Throws: ``NetworkError`` of code `unexpectedContentType` with the beginning of the body.
  fileprivate func eventStream() async throws -> NetworkResponse? {
    guard statusCode != 204 else {
      body.cancel()
      return nil
    }
    let wanted = request.options.acceptableContentTypes ?? ["text/event-stream"]
    let found = headers["Content-Type"]
    if wanted.isEmpty { return self }
    if let found, let type = MediaType(found), wanted.contains(where: type.matches) { return self }
    throw NetworkError(
      .unexpectedContentType,
      "the body is \(found ?? "of no content type"), wanted \(wanted.joined(separator: " or ")) for server-sent events; "
        + "set acceptableContentTypes to read it all the same", response: try await excerpt())
  }
}

extension NetworkError {
  fileprivate static func notReconnectable(_ method: RequestMethod) -> NetworkError {
    NetworkError(
      .invalidRequest,
      "events are reconnected for GET requests only, because a \(method) may take effect again; leave reconnecting out")
  }

  fileprivate static func eventsOfAnotherUser() -> NetworkError {
    NetworkError(
      .signedOut,
      "another user has signed in or out since the events began; begin anew if they are to be that user's")
  }
}
