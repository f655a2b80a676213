import RequestBehaviors

extension LoopbackResponse {
  /// Returns the response with a header field added to those it has.
  public func header(_ name: String, _ value: String) -> LoopbackResponse {
    var response = self
    response.headers.append(name, value)
    return response
  }

  /// Returns the response with another reason phrase; an empty one is allowed (RFC 9112 §4).
  public func reason(_ reason: String) -> LoopbackResponse {
    var response = self
    response.reason = reason
    return response
  }

  /// Returns the response broken off at a point.
  ///
  /// ```swift
  /// // A reset instead of a response.
  /// server.enqueue(.status(200).fault(.reset, at: .request))
  /// server.enqueue(.text("0123456789").fault(.stall, at: .body(after: 5)))
  /// // A pooled connection that is stale when it is used again.
  /// server.enqueue(.text("ok").fault(.close, at: .nextRequest))
  /// ```
  public func fault(_ fault: LoopbackFault, at point: LoopbackPoint) -> LoopbackResponse {
    adding(.fault(fault), at: point)
  }

  /// Returns the response with a pause, in real time, at a point.
  ///
  /// A test that is to be independent of time uses ``held(by:at:)``.
  ///
  /// - Parameters:
  ///   - duration: How long; not positive is no pause.
  ///   - point: When; by default before anything of the response is sent.
  /// - Returns: The response with the pause added to what it does already.
  public func delayed(by duration: Duration, at point: LoopbackPoint = .request) -> LoopbackResponse {
    adding(.delay(duration), at: point)
  }

  /// Returns the response held at a point until a gate is open.
  ///
  /// - Parameters:
  ///   - gate: The gate that the test opens.
  ///   - point: When; by default before anything of the response is sent.
  /// - Returns: The response with the hold added to what it does already.
  public func held(by gate: LoopbackGate, at point: LoopbackPoint = .request) -> LoopbackResponse {
    adding(.hold(gate), at: point)
  }

  /// Returns the response with its body sent in pieces, with a pause in real time between each and the next.
  ///
  /// - Parameters:
  ///   - bytes: The length of a piece; at least 1.
  ///   - interval: The pause.
  /// - Returns: The response with its body throttled; its head goes out at once.
  public func throttled(bytes: Int, every interval: Duration) -> LoopbackResponse {
    var response = self
    response.throttle = Throttle(bytes: max(bytes, 1), interval: interval)
    return response
  }

  private func adding(_ conduct: Effect.Conduct, at point: LoopbackPoint) -> LoopbackResponse {
    var response = self
    response.effects.append(Effect(point: point, conduct: conduct))
    return response
  }
}
