public import Foundation
public import RequestBehaviors

/// Signs requests by OAuth 1.0a (RFC 5849).
///
/// Every send is signed, after all that changes the URL, the method or the body. A retry, a redirect and a replay each
/// have a nonce and a timestamp of their own, and the signature covers the request as it is sent.
///
/// An `Authorization` field of the request is replaced. Besides, dot segments are removed from the path, as they are on
/// the wire, and a body without a media type gets one, so that both sides agree on whether it is a form. Nothing else
/// is changed.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.oauth1(session)])
/// ```
///
/// Only requests to the session's ``OAuth1Session/origins`` are signed, and only if `RequestOptions.authentication`
/// asks for it: not with `.none`, nor with `.only` of another name than the session's, nor with `.optional` while no
/// user is signed in.
///
/// A service refuses a timestamp with `oauth_problem=timestamp_refused`, or with a 401 without a reason whose `Date` is
/// more than a minute away. If that response is verified and came over https, the request is sent again, once, with the
/// service's time. If that succeeds, later requests use the service's time too. If the service refuses that time later,
/// the device's is tried again.
///
/// Some requests cannot be signed and fail with an error that says why: a form body that is a stream, `PLAINTEXT` over
/// http, a URL without a host. ``OAuth1Session/explain(_:)-(Error)`` shows the steps to the signature of a refused
/// request.
public struct OAuth1Behavior: UniqueBehavior, CredentialBehavior {
  /// After all that changes URL, method or body.
  public let order = BehaviorOrder.signing
  /// The name of the session.
  public var name: String { session.name }
  /// The name of the session, by which `AuthenticationRequirement.only(_:)` asks for its signature.
  public var credential: String { session.name }
  /// The servers whose requests are signed.
  public var origins: OriginScope { session.origins }
  /// `Authorization`; `nil` for parameters in the URL or the body.
  public var credentialField: String? {
    session.options.location == .authorizationHeader ? "Authorization" : nil
  }
  let session: OAuth1Session

  /// Creates the behavior.
  ///
  /// - Parameter session: The session that signs.
  public init(_ session: OAuth1Session) { self.session = session }

  /// Signs the request with a fresh nonce and timestamp.
  public func modify(_ request: inout NetworkRequest) async throws {
    guard applies(to: request) else { return }
    // Claimed first, because a call of a user who has left is not sent without a signature either.
    guard let user = try session.claim(request.call) else {
      guard request.options.authentication.isOptional else { throw NetworkError.oauth1NotSignedIn(request) }
      return request.call.record(
        "sent without a signature: no user is signed in", from: "OAuth1Behavior", kind: .authentication)
    }
    try await session.sign(&request, with: user.signer)
    try session.check(user)
    request.call.noteSend(for: user.scope)
  }

  /// Sends the request, and sends it again if the service reports that the clock was wrong.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    // A response to a request that is not signed says nothing about the clock.
    guard applies(to: request), session.currentSigner != nil else { return try await next(request) }
    var response = try await session.correctingClock(request, next: next)
    if [400, 401, 403].contains(response.statusCode), let reason = OAuth1Refusal(response).reason {
      response.refusalReason = reason
    }
    return response
  }

  /// Returns the signed-in user as the owner of the response: a hash of the account's name, or of the consumer's key
  /// and the token with which the user signed in.
  public func scope(for request: NetworkRequest) -> String? {
    let owner = session.note(request.call)
    noteClient(of: request.call)
    return applies(to: request) ? owner?.scope : nil
  }

  /// Returns a digest of the secrets of the consumer and of the token with which the user signed in, because
  /// ``scope(for:)`` contains neither.
  ///
  /// For an account that the app names it is of the consumer's secret only.
  public func credentialDigest(salt: Data) -> String? { session.credentialDigest(salt: salt) }

  /// Warns if it is further out than a behavior that sends a request again.
  public func warnings(in pipeline: Pipeline) -> [String] {
    pipeline.misplacements(
      of: OAuth1Behavior.self, inside: RetryBehavior.self, HedgingBehavior.self, RedirectsBehavior.self,
      consequence: "so a further send carries the old signature")
  }

  /// Forgets the clocks of services; the user stays signed in.
  public func reset() async { session.forgetClocks() }
}

extension RequestBehavior where Self == OAuth1Behavior {
  /// Signs requests by OAuth 1.0a; see ``OAuth1Behavior``.
  public static func oauth1(_ session: OAuth1Session) -> OAuth1Behavior { OAuth1Behavior(session) }
}

extension OAuth1Behavior: AccountKnowing {
  /// The owner of requests that are begun now; `nil` if no user is signed in.
  public var account: String? { session.scope }

  /// Remembers the client of a call, which hears when the user leaves.
  public func noteClient(of call: Call) { session.scopes.follow(call) }

  /// A number that changes with each sign-in and sign-out, and not with a renewal.
  public var signInCount: Int { session.userNumber }
}
