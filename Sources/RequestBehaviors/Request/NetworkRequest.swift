public import Foundation

/// The request that travels down the list of behaviors: a value that each may change on its way.
///
/// Clients make one from each ``Request``. Tests of a behavior or a transport make their own:
///
/// ```swift
/// let request = NetworkRequest(
///   .get, url: url, headers: ["Accept": "text/plain"])
/// ```
public struct NetworkRequest: Sendable {
  // One reference for what seldom changes, because every behavior on the way copies the request.
  private var storage: Storage

  /// The header fields.
  public var headers: HeaderFields

  /// Which of the call's sends this is, from 1; 0 until the request leaves the last behavior.
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

  /// The origin of the URL; `nil` if that is not an absolute http or https URL, which is refused when it is sent.
  public var origin: Origin? { storage.fields.origin }

  /// The path's template, such as `users/{}`: the name of the endpoint in logs, metrics and mocks.
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

  /// The typed settings: the request's over the configuration's.
  public var options: RequestOptions {
    get { storage.fields.options }
    _modify {
      detach()
      yield &storage.fields.options
    }
  }

  /// What is shared by everything that serves this send.
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
  ///   - call: The call it belongs to; by default one of its own.
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

  /// Creates a request for a URL whose origin is known, with the options of its call.
  init(_ method: RequestMethod, url: URL, origin: Origin?, endpoint: String, call: Call) {
    let fields = Fields(
      method: method, url: url, origin: origin, endpoint: endpoint, options: call.options)
    storage = Storage(fields, call)
    headers = HeaderFields()
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

extension NetworkRequest {
  /// Whether two requests have the same URL; this costs little where they are copies of one.
  func hasSameURL(as other: NetworkRequest) -> Bool { storage === other.storage || url == other.url }

  /// Returns the same request of another call.
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

  // Unchecked, as is the access, because only a request that alone refers to it changes it.
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
