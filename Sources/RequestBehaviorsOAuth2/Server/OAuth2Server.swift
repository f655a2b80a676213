public import Foundation
public import RequestBehaviors

/// An authorization server: its issuer and its endpoints.
///
/// ```swift
/// let server = OAuth2Server(
///   authorize: URL(string: "https://id.example/authorize"),
///   token: URL(string: "https://id.example/token")!)
/// ```
///
/// ``discover(_:over:)`` reads the same from the server's metadata.
public struct OAuth2Server: Codable, Hashable, Sendable {
  /// The identifier of the server, a URL; `nil` if it has no issuer.
  ///
  /// With an issuer, callbacks of another server are recognized (RFC 9207).
  public var issuer: String?
  /// The page that asks the user (RFC 6749 §3.1); `nil` if the server has none.
  public var authorize: URL?
  /// The token endpoint (§3.2).
  public var token: URL
  /// The endpoint that revokes tokens (RFC 7009); `nil` if the server has none.
  public var revoke: URL?
  /// The endpoint that begins a sign-in on another device (RFC 8628 §3.1); `nil` if the server has none.
  public var deviceAuthorization: URL?
  /// The endpoint of pushed authorization requests (RFC 9126); `nil` if the server has none.
  public var push: URL?
  /// Whether every callback has the parameter `iss` (RFC 9207 §3); `false` by default.
  ///
  /// If the server announces it and forgets it, set this to `false`.
  public var announcesIssuer: Bool
  /// Whether the parameters of a sign-in are pushed to the server first; `false` by default.
  public var requiresPush: Bool
  /// Whether the server takes a proof key by the method S256 (RFC 7636); `true` unless its metadata says otherwise.
  public var supportsProofKeys: Bool
  /// The endpoints for clients that authenticate by a certificate (RFC 8705 §5), by their metadata names.
  public var mutualTLSEndpoints: [String: URL]

  /// Creates a server from its documentation.
  ///
  /// - Parameters:
  ///   - issuer: The identifier of the server.
  ///   - authorize: The page that asks the user.
  ///   - token: The token endpoint.
  ///   - revoke: The endpoint that revokes tokens.
  ///   - deviceAuthorization: The endpoint that begins a sign-in on another device.
  ///   - push: The endpoint of pushed authorization requests.
  ///   - announcesIssuer: Whether every callback has the parameter `iss`.
  ///   - requiresPush: Whether the parameters of a sign-in are pushed to the server first.
  public init(
    issuer: String? = nil, authorize: URL? = nil, token: URL, revoke: URL? = nil, deviceAuthorization: URL? = nil,
    push: URL? = nil, announcesIssuer: Bool = false, requiresPush: Bool = false
  ) {
    self.issuer = issuer
    self.authorize = authorize
    self.token = token
    self.revoke = revoke
    self.deviceAuthorization = deviceAuthorization
    self.push = push
    self.announcesIssuer = announcesIssuer
    self.requiresPush = requiresPush
    self.supportsProofKeys = true
    self.mutualTLSEndpoints = [:]
  }

  /// Returns the server with the endpoints for clients that authenticate by a certificate.
  var forMutualTLS: OAuth2Server {
    var server = self
    server.token = mutualTLSEndpoints["token_endpoint"] ?? token
    server.revoke = mutualTLSEndpoints["revocation_endpoint"] ?? revoke
    server.deviceAuthorization = mutualTLSEndpoints["device_authorization_endpoint"] ?? deviceAuthorization
    server.push = mutualTLSEndpoints["pushed_authorization_request_endpoint"] ?? push
    return server
  }
}

extension OAuth2Server {
  /// Reads the server's metadata (RFC 8414, OpenID Connect Discovery).
  ///
  /// ```swift
  /// let server = try await OAuth2Server.discover(
  ///   "https://id.example", over: client)
  /// ```
  ///
  /// The document of RFC 8414 is asked for first, and if it is missing, that of OpenID Connect. Only an HTTP cache of
  /// the client keeps it.
  ///
  /// - Parameters:
  ///   - issuer: The identifier of the server: an https URL without query and fragment.
  ///   - client: The client that sends the requests, without authentication.
  /// - Returns: The server.
  /// - Throws: `NetworkError`, of code `oauth2InvalidServer` if the document is not that of this issuer, or lacks a
  ///   token endpoint.
  public static func discover(_ issuer: String, over client: NetworkClient) async throws -> OAuth2Server {
    let places = try OAuth2Metadata.places(of: issuer)
    for place in places.dropLast() {
      let request = request(for: place).with(\.acceptableStatuses, [200, 404])
      let response = try await client.send(request).buffered()
      if response.statusCode == 200 { return try read(response, issuer) }
    }
    return try read(try await client.send(request(for: places[places.count - 1])).buffered(), issuer)
  }

  private static func request(for place: URL) -> Request<NetworkResponse> {
    Request<NetworkResponse>.get(url: place).with(header: "Accept", "application/json")
      .with(\.authentication, .none).with(\.redirects, .none)
      .with(\.acceptableStatuses, [200]).without(MapErrorBehavior.self)
  }

  private static func read(_ response: NetworkResponse, _ issuer: String) throws -> OAuth2Server {
    do {
      return try OAuth2Metadata.read(try response.data, issuer: issuer)
    } catch var error as NetworkError {
      (error.response, error.request) = (response, response.request)
      throw error
    }
  }
}
