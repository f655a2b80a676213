public import Foundation

/// The request that travels through the list of behaviors: a value that each may change.
///
/// Clients make one from each ``Request``. Tests of a behavior or a transport make their own:
///
/// ```swift
/// let request = NetworkRequest(
///   .get, url: url, headers: ["Accept": "text/plain"])
/// ```
public struct NetworkRequest: Sendable {
  // One reference for the fields that seldom change, because every behavior copies the request.
  private var storage: Storage

  /// The header fields.
  public var headers: HeaderFields

  /// The number of this send within the call, from 1; 0 until the request leaves the last behavior.
  public internal(set) var attemptNumber = 0

  /// The method.
  public var method: RequestMethod {
    get { storage.fields.method }
    _modify {
      detach()
      yield &storage.fields.method
    }
  }

  /// The full URL, dot segments removed.
  public var url: URL {
    get { storage.fields.url }
    _modify {
      detach()
      defer { storage.fields.origin = Origin(storage.fields.url) }
      yield &storage.fields.url
    }
  }

  /// The origin of the URL; `nil` if the URL is not absolute http or https, which fails when the request is sent.
  public var origin: Origin? { storage.fields.origin }

  /// The path's template, such as `users/{}`, which names the endpoint in logs, metrics and mocks.
  public var endpoint: String {
    get { storage.fields.endpoint }
    _modify {
      detach()
      yield &storage.fields.endpoint
    }
  }

  /// The body; `nil` for none.
  public var body: RequestBody? {
    get { storage.fields.body }
    _modify {
      detach()
      yield &storage.fields.body
    }
  }

  /// The typed settings; those of the request override those of the configuration.
  public var options: RequestOptions {
    get { storage.fields.options }
    _modify {
      detach()
      yield &storage.fields.options
    }
  }

  /// The state that all steps of this send share.
  public var call: Call { storage.call }

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: The full URL.
  ///   - endpoint: The path's template; by default the URL's path.
  ///   - headers: The header fields; none by default.
  ///   - body: The body; none by default.
  ///   - options: The settings; by default none is set.
  ///   - call: The call it belongs to; by default a new one.
  public init(
    _ method: RequestMethod = .get, url: URL, endpoint: String? = nil, headers: HeaderFields = HeaderFields(),
    body: RequestBody? = nil, options: RequestOptions = RequestOptions(), call: Call = Call()
  ) {
    let fields = Fields(
      method: method, url: url, origin: Origin(url), endpoint: endpoint ?? url.path(percentEncoded: true),
      body: body, options: options)
    storage = Storage(fields, call)
    self.headers = headers
  }

  /// Creates a request with the options of its call, for a URL whose origin is known.
  init(_ method: RequestMethod, url: URL, origin: Origin?, endpoint: String, call: Call) {
    let fields = Fields(
      method: method, url: url, origin: origin, endpoint: endpoint, options: call.options)
    storage = Storage(fields, call)
    headers = HeaderFields()
  }

  /// The longest time without a byte in either direction; `nil` for no limit.
  ///
  /// See ``RequestOptions/idleTimeout``.
  public var idleTimeout: Duration? {
    get { options.idleTimeout }
    set { options.idleTimeout = newValue }
  }

  /// The longest time that the send may take in all; `nil` for no limit.
  ///
  /// See ``RequestOptions/timeout``.
  public var timeout: Duration? {
    get { options.timeout }
    set { options.timeout = newValue }
  }
}

extension NetworkRequest {
  /// Whether two requests have the same URL; the check is cheap for copies of one request.
  func hasSameURL(as other: NetworkRequest) -> Bool { storage === other.storage || url == other.url }

  /// Returns the same request as part of another call.
  func bound(to call: Call) -> NetworkRequest {
    guard call !== storage.call else { return self }
    var request = self
    request.storage = Storage(storage.fields, call)
    return request
  }

  private struct Fields {
    var method: RequestMethod
    var url: URL
    var origin: Origin?
    var endpoint: String
    var body: RequestBody?
    var options: RequestOptions
  }

  // Unchecked, as is the access, because a request changes its storage only while no other refers to it.
  private final class Storage: @unchecked Sendable {
    @exclusivity(unchecked) var fields: Fields
    let call: Call

    init(_ fields: Fields, _ call: Call) {
      self.fields = fields
      self.call = call
    }
  }

  /// Gives the request a storage of its own, before a change.
  private mutating func detach() {
    if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.fields, storage.call) }
  }
}

extension NetworkRequest: CustomStringConvertible {
  /// Method and URL, with secrets hidden.
  public var description: String { "\(method) \(Redactor.standard.hiding(secretsOf: self).redact(url))" }
}
