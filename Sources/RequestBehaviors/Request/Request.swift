public import Foundation

/// A request as users write it: its target, and the type of the response.
///
/// ```swift
/// let user: User = try await client.send(.get("users/\(login)"))
/// try await client.send(
///   .post("issues", body: .json(draft)).with(\.timeout, .seconds(10)))
/// ```
///
/// `Value` decides how the response is decoded. The configuration's decoder decodes a `Decodable`. `Data` and `String`
/// are the body itself, unless ``decoding(at:)`` names a place in it. `Void` decodes nothing. An optional is `nil` for
/// an empty body. `NetworkResponse` is the whole response. `Value` need not be `Sendable`.
public struct Request<Value>: Sendable {
  /// The method.
  public var method: RequestMethod
  var target: RequestTarget
  /// Items added to the query that the path or URL has.
  public var query: Query
  /// The fields of this request; they override those that behaviors set, except for authentication and signing.
  public var headers: HeaderFields
  // Written out, because `RequestContent?` would be set to nil first, and the compiler then copies the whole request
  // at the end of each initializer.
  /// The body; `nil` for none.
  public var body: Optional<RequestContent>
  /// The typed settings of this request.
  public var options = RequestOptions()
  /// Behaviors of this request only; one that is unique by type replaces the configuration's.
  public var behaviors: [any RequestBehavior] = []
  var removedBehaviors: [any RequestBehavior.Type] = []
  /// Whether the type before ``returning(_:)`` was decodable, so that the same `Accept` is sent.
  var asksForDecodable = false

  /// Creates a request for a path below the base URL.
  public init(
    _ method: RequestMethod, _ path: RequestPath, query: Query = [:], headers: HeaderFields = [:],
    body: RequestContent? = nil
  ) {
    self.init(method, target: .path(path), query: query, headers: headers, body: body)
  }

  /// Creates a request for a full URL, such as a link in a response.
  ///
  /// It carries credentials only if the URL is on one of their origins.
  public init(
    _ method: RequestMethod, url: URL, query: Query = [:], headers: HeaderFields = [:], body: RequestContent? = nil
  ) {
    self.init(method, target: .url(url), query: query, headers: headers, body: body)
  }

  private init(
    _ method: RequestMethod, target: RequestTarget, query: Query, headers: HeaderFields, body: RequestContent?
  ) {
    self.method = method
    self.target = target
    self.query = query
    self.headers = headers
    self.body = body
  }

  /// Returns the same request for a response of another type.
  ///
  /// With `NetworkResponse` the request that is sent stays the same, including the `Accept` of the previous type. With
  /// any other type the client asks for the media types that the new type is decoded from.
  public func returning<Other>(_ type: Other.Type) -> Request<Other> {
    var request = Request<Other>(method, target: target, query: query, headers: headers, body: body)
    request.options = options
    request.behaviors = behaviors
    request.removedBehaviors = removedBehaviors
    if Other.self is any ResponseConvertible.Type {
      let isDecoded = Value.self is any Decodable.Type && ResponseDecoding.decodes(Value.self, at: options.decodingPath)
      request.asksForDecodable = asksForDecodable || isDecoded
    }
    return request
  }
}
