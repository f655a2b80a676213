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
  /// The request is sent when the first event is requested, and again for every further iteration. A response of status
  /// 204 has no events. A response of another content type than `text/event-stream` fails with
  /// ``NetworkError/Code-swift.struct/unexpectedContentType``, unless ``RequestOptions/acceptableContentTypes`` has its
  /// type. No cache is used.
  ///
  /// With a rule for reconnecting, the request is repeated when its stream ends or breaks off, once a first response
  /// has been accepted. Each repeat is a call of its own with its own token and attempts, and sends the id of the
  /// latest event as `Last-Event-ID`. Only `GET` requests are repeated: the events of another one end with its stream,
  /// whatever the rule. The events end for good with a 204, another content type, an unacceptable status, or an error
  /// that is not transient. If there is no token for the repeat, the reason for that counts. They belong to one user:
  /// when a user has signed in or out meanwhile, the next repeat is not sent and they end with
  /// ``NetworkError/Code-swift.struct/signedOut``.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - reconnection: The rule of when the request is repeated; `nil`, the default, for never.
  /// - Returns: The events; iterating them throws the error of a request.
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
    // The events of any other request end with its stream.
    let reconnection = EventReconnection.repeats(request.method) ? reconnection : nil
    self.init(
      reconnection: reconnection, lastEventID: request.headers["Last-Event-ID"] ?? "",
      errorMapping: client.errorMapping(of: request)
    ) {
      // Each iteration starts anew, for the user who is signed in at that time.
      let user = FirstUser()
      return { lastEventID in
        var request = first
        // Outer spaces are not part of a field's value (RFC 9110 §5.5). An id with a control character cannot be sent,
        // and an empty one resets it.
        let id = HTTPSyntax.withoutOuterSpace(lastEventID)
        request.headers["Last-Event-ID"] = !id.isEmpty && HTTPSyntax.isFieldValue(id) ? id : nil
        if reconnection != nil { request.behaviors.append(SameUserBehavior(user: user)) }
        return try await client.originalStream(request).eventStream()
      }
    }
  }
}
