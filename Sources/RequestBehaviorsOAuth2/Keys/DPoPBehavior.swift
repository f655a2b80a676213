public import RequestBehaviors

/// Adds to each request that carries a token of type DPoP the proof that it comes from the owner of the key (RFC 9449).
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [.tokenAuth(session), .dpop(dpop)])
/// ```
///
/// Every send has a proof of its own: each retry, each hop, each replay. A request whose proof cannot be made is not
/// sent. If the server asks for a nonce (§9), the request is sent once more with it; the session does not see that 401.
/// A one-shot body is not sent again.
///
/// A proof belongs to its token and is no credential of its own: `.only(_:)` with the name of the session keeps both.
/// A request with `.none` as its `authentication` gets no proof. The owner of a response is that of the token: a new
/// key changes neither what is stored of a user nor what waits in an outbox.
public struct DPoPBehavior: UniqueBehavior, CredentialProof {
  /// After all that changes URL, method or token, and before signatures, so that each repeat is signed anew.
  public let order = BehaviorOrder.outside(.signing)
  /// The servers whose requests get a proof, which are those of the token.
  public let origins: OriginScope
  private let key: DPoPKey

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - key: The key, which the endpoint of the session has too.
  ///   - origins: The servers that get tokens; by default the base URL's.
  public init(_ key: DPoPKey, origins: OriginScope = .baseURL) {
    self.key = key
    self.origins = origins
  }

  /// Sends the request with a proof, and once more if the server asks for a nonce.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard proves(request), let token = DPoPBehavior.token(in: request) else { return try await next(request) }
    return try await key.send(request, token: token, next: next)
  }

  /// Whether a request gets a proof if it carries a token of type DPoP.
  private func proves(_ request: NetworkRequest) -> Bool {
    guard request.options.authentication != .none, let origin = request.origin else { return false }
    return origins.includes(origin, base: request.call.baseOrigin)
  }

  /// The token of type DPoP that a request carries; `nil` if it carries none.
  private static func token(in request: NetworkRequest) -> String? {
    let parts = (request.headers["Authorization"] ?? "").split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "dpop" else { return nil }
    return String(parts[1])
  }
}

extension DPoPKey {
  /// Sends a request with a proof, and once more if the resource refuses it for a nonce that it names.
  fileprivate func send(_ request: NetworkRequest, token: String, next: Next) async throws -> NetworkResponse {
    let nonce = nonce(for: request.origin)
    let response = try await next(try await proven(request, token, nonce))
    // The nonce of this very response: that of a concurrent one may be known already, or have replaced it.
    guard let asked = learn(response), asked != nonce, DPoPKey.asksForNonce(response),
      request.body?.isReplayable != false
    else { return response }
    response.body.cancel()
    request.call.record("sent again with the server's nonce", from: "DPoPBehavior")
    let second = try await next(try await proven(request, token, asked))
    learn(second)
    return second
  }

  /// Whether a resource refuses a proof for its nonce (§9): each error belongs to its own scheme.
  private static func asksForNonce(_ response: NetworkResponse) -> Bool {
    guard response.statusCode == 401 else { return false }
    return response.headers.values(for: "WWW-Authenticate").flatMap(AuthenticationScheme.list).contains {
      $0.name.lowercased() == "dpop" && $0.error == OAuth2Problem.Code.useDPoPNonce.rawValue
    }
  }

  func proven(
    _ request: NetworkRequest, _ token: String?, _ nonce: String?
  ) async throws -> NetworkRequest {
    var proven = request
    let scope: OriginScope = request.origin.map { .only([$0]) } ?? .baseURL
    proven.headers.set("DPoP", try await proof(for: request, token: token, nonce: nonce), sensitive: scope)
    return proven
  }
}

extension RequestBehavior where Self == DPoPBehavior {
  /// Proves the ownership of the key to which tokens are bound; see ``DPoPBehavior``.
  ///
  /// - Parameters:
  ///   - key: The key, which the endpoint of the session has too.
  ///   - origins: The servers that get tokens; by default the base URL's.
  /// - Returns: The behavior.
  public static func dpop(_ key: DPoPKey, origins: OriginScope = .baseURL) -> DPoPBehavior {
    DPoPBehavior(key, origins: origins)
  }
}
