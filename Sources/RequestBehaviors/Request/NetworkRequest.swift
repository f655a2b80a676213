public import Foundation

/// The request that travels down the list of behaviors: a value that each may change on its way.
///
/// Clients make one from each ``Request``. Tests of a behavior or a transport make their own:
///
/// ```swift
/// let request = NetworkRequest(.get, url: url, headers: ["Accept": "text/plain"])
/// ```
public struct NetworkRequest: Sendable {
  /// The method.
  public var method: HTTPMethod

  /// The full URL, dot segments removed.
  public var url: URL {
    didSet { origin = Origin(url) }
  }

  /// The origin of the URL; `nil` if that is not an absolute http or https URL, which is refused when it is sent.
  public private(set) var origin: Origin?

  /// The path's template, such as `users/{}`: the name of the endpoint in logs, metrics and mocks.
  public var endpoint: String

  /// The header fields.
  public var headers: HTTPHeaders

  /// The body; `nil` for none.
  public var body: RequestBody?

  /// The typed settings: the request's over the configuration's.
  public var options: RequestOptions

  /// What is shared by everything that serves this send.
  public let call: Call

  /// Which of the call's sends this is, from 1; 0 until the request leaves the last behavior.
  public internal(set) var sendNumber = 0

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: The full URL.
  ///   - endpoint: The path's template; by default the URL's path.
  ///   - headers: The header fields; none by default.
  ///   - body: The body; none by default.
  ///   - options: The settings; by default none is set.
  ///   - call: The call it belongs to; by default one of its own.
  public init(
    _ method: HTTPMethod = .get, url: URL, endpoint: String? = nil, headers: HTTPHeaders = HTTPHeaders(),
    body: RequestBody? = nil, options: RequestOptions = RequestOptions(), call: Call = Call()
  ) {
    self.init(method, url: url, origin: Origin(url), endpoint: endpoint ?? url.path(percentEncoded: true), call: call)
    self.headers = headers
    self.body = body
    self.options = options
  }

  /// Creates a request for a URL whose origin is known, with the options of its call.
  init(_ method: HTTPMethod, url: URL, origin: Origin?, endpoint: String, call: Call) {
    self.method = method
    self.url = url
    self.origin = origin
    self.endpoint = endpoint
    self.headers = HTTPHeaders()
    self.options = call.options
    self.call = call
  }

  /// How long the send may go without a byte in either direction, or `nil` for ever; see ``RequestOptions/idleTimeout``.
  public var idleTimeout: Duration? {
    get { options.idleTimeout }
    set { options.idleTimeout = newValue }
  }

  /// How long the send may take in all, or `nil` for ever; see ``RequestOptions/timeout``.
  public var timeout: Duration? {
    get { options.timeout }
    set { options.timeout = newValue }
  }
}

extension NetworkRequest: CustomStringConvertible {
  /// Method and URL, with secrets hidden.
  public var description: String { "\(method) \(Redactor.standard.redact(url))" }
}
