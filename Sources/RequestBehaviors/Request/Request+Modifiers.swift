extension Request {
  /// Returns the request with an option set.
  ///
  /// ```swift
  /// let report: Data = try await client.send(
  ///   .get("report").with(\.timeout, .seconds(5)))
  /// ```
  public func with<Setting>(_ option: WritableKeyPath<RequestOptions, Setting>, _ value: Setting) -> Self {
    var copy = self
    copy.options[keyPath: option] = value
    return copy
  }

  /// Returns the request with a behavior of its own.
  ///
  /// A behavior of this library replaces the configuration's of the same type (and name).
  public func with(_ behavior: any RequestBehavior) -> Self {
    var copy = self
    copy.behaviors.append(behavior)
    return copy
  }

  /// Returns the request with a header field set.
  public func with(header name: String, _ value: String, sensitive scope: OriginScope? = nil) -> Self {
    var copy = self
    copy.headers.set(name, value, sensitive: scope)
    return copy
  }

  /// Returns the request without the behaviors of a type, both those that the configuration lists and built-in ones.
  public func without<Behavior: RequestBehavior>(_ type: Behavior.Type) -> Self {
    var copy = self
    copy.removedBehaviors.append(type)
    return copy
  }

  /// Returns the request with 404 as an acceptable status, for which the value is `nil`.
  public func nilWhenNotFound<Wrapped>() -> Self where Value == Wrapped? {
    with(\.nilWhenNotFound, true)
  }

  /// Returns the request with the value decoded from a place inside the body.
  ///
  /// ```swift
  /// let items: [Issue] = try await client.send(
  ///   .get("search").decoding(at: "data.items"))
  /// ```
  ///
  /// A `String` or `Data` is then decoded like other values: with a `JSONDecoder`, data is base64 by default. The body
  /// of a status that the request does not accept is decoded as a whole, as by ``NetworkError/decode(_:)``.
  ///
  /// - Parameter path: Keys separated by `.`, as the decoder's key strategy makes them (`firstName` if it converts from
  ///   snake case); a number is an index into an array.
  /// - Returns: The request, for a value at that place.
  public func decoding(at path: String) -> Self {
    with(\.decodingPath, path)
  }
}
