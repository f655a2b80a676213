import Foundation
public import RequestBehaviors

/// Signs for an app, and for the user who is signed in to it.
///
/// An app makes one, lists its behavior, and signs users in and out with it. Several clients may share it.
///
/// ```swift
/// let session = OAuth1Session(
///   consumer: OAuth1Consumer(key: key, secret: secret),
///   credentials: stored)
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.oauth1(session)])
/// session.signOut()
/// ```
///
/// Descriptions never show a secret. Without a signed-in user, requests fail with
/// `NetworkError.Code.oauth1MissingCredentials`; with ``OAuth1Credentials/none``, an app signs for
/// itself.
public final class OAuth1Session: Sendable, CustomStringConvertible, CustomReflectable {
  /// The app's credentials.
  public let consumer: OAuth1Consumer
  /// The method by which requests are signed.
  public let signatureMethod: OAuth1SignatureMethod
  /// The differences of the service from others.
  public let options: OAuth1Options
  /// The servers whose requests are signed.
  public let origins: OriginScope
  /// The name that tells this session from others of one client; empty by default.
  public let name: String
  let scopes = SessionScopes()

  let trustsClockOverHTTP: Bool
  let makeNonce: @Sendable () -> String
  private let state: Locked<State>

  private struct State {
    var signer: OAuth1Signer?
    /// Grows with every sign-in and sign-out.
    var userNumber = 0
    var clocks = OAuth1Clocks()
  }

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - consumer: The app's credentials.
  ///   - credentials: The user's credentials, from an earlier sign-in; by default no user is signed in.
  ///   - signatureMethod: The method by which requests are signed; by default HMAC-SHA1.
  ///   - options: The differences of the service from others; by default none.
  ///   - origins: The servers whose requests are signed; by default the base URL's origin.
  ///   - name: The name that tells this session from others of one client.
  ///   - trustsClockOverHTTP: Whether a service may correct the timestamp over http too, where all on the way can do
  ///     it; by default only over https.
  ///   - makeNonce: Makes a text that was never used; by default 128 random bits as 32 hexadecimal digits.
  public init(
    consumer: OAuth1Consumer, credentials: OAuth1Credentials? = nil,
    signatureMethod: OAuth1SignatureMethod = .hmacSHA1, options: OAuth1Options = OAuth1Options(),
    origins: OriginScope = .baseURL, name: String = "", trustsClockOverHTTP: Bool = false,
    makeNonce: (@Sendable () -> String)? = nil
  ) {
    self.consumer = consumer
    self.signatureMethod = signatureMethod
    self.options = options
    self.origins = origins
    self.name = name
    self.trustsClockOverHTTP = trustsClockOverHTTP
    self.makeNonce = makeNonce ?? { Nonce.make(.hexadecimal) }
    let signer = credentials.map {
      OAuth1Signer(consumer: consumer, credentials: $0, method: signatureMethod, options: options)
    }
    state = Locked(State(signer: signer))
  }

  /// The credentials of the signed-in user; `nil` if no user is signed in.
  public var credentials: OAuth1Credentials? { state.withLock { $0.signer?.credentials } }

  /// Signs with these credentials from now on.
  ///
  /// ``OAuth1Flow`` calls it at the end of a sign-in; call it yourself for credentials that you got otherwise.
  public func signIn(_ credentials: OAuth1Credentials) {
    let new = OAuth1Signer(consumer: consumer, credentials: credentials, method: signatureMethod, options: options)
    let ended = scope
    state.withLock { state in
      state.signer = new
      state.userNumber += 1
    }
    if let ended, ended != scope { scopes.end(ended) }
  }

  /// Forgets the user's credentials; requests fail from now on.
  ///
  /// A signed request that still waits in a behavior is not sent; it fails with
  /// `NetworkError.Code.signedOut`. A request past its last check, on its way to the transport, may
  /// still go; this method does not wait for it.
  public func signOut() {
    let ended = scope
    state.withLock { state in
      state.signer = nil
      state.userNumber += 1
    }
    if let ended { scopes.end(ended) }
  }

  /// The owner of responses: a hash of the consumer's key and the token, if any; `nil` if no user is signed in.
  var scope: String? {
    guard let credentials else { return nil }
    let digest = HashFunction.sha256.digest(of: Array((consumer.key + "&" + (credentials.token ?? "")).utf8))
    return "oauth1 " + Data(digest).base64EncodedString()
  }

  /// Returns a digest of the secrets of the consumer and the token; `nil` if no user is signed in.
  func credentialDigest(salt: Data) -> String? {
    credentials.map { CredentialDigest.make(of: consumer.secret + "&" + $0.secret, salt: salt) }
  }

  var currentSigner: OAuth1Signer? { state.withLock { $0.signer } }

  /// The number of the signed-in user, which differs for every sign-in; `nil` if no user is signed in.
  var user: Int? { state.withLock { $0.signer == nil ? nil : $0.userNumber } }

  func learnedClock(of origin: Origin) -> OAuth1Clock? { state.withLock { $0.clocks[origin] } }

  func keep(_ clock: OAuth1Clock, of origin: Origin) { state.withLock { $0.clocks.keep(clock, of: origin) } }

  func forget(_ clock: OAuth1Clock, of origin: Origin) { state.withLock { $0.clocks.forget(clock, of: origin) } }

  func forgetClocks() { state.withLock { $0.clocks = OAuth1Clocks() } }

  /// The consumer's key and whether a user is signed in, without secrets.
  public var description: String {
    "OAuth1Session(\(consumer.key), \(credentials == nil ? "signed out" : "signed in"))"
  }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
