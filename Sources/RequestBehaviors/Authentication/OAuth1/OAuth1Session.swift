import Foundation

/// Who signs: an app, and the user who is signed in to it.
///
/// It is what apps act on: they make one, list its behavior, and sign users in and out. It may be shared by several
/// clients.
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
/// Descriptions never show a secret. Requests that are made while nobody is signed in fail with
/// ``NetworkError/Code-swift.struct/oauth1MissingCredentials``; with ``OAuth1Credentials/none``, an app signs for
/// itself.
public final class OAuth1Session: Sendable, CustomStringConvertible, CustomReflectable {
  /// The app's credentials.
  public let consumer: OAuth1Consumer
  /// How requests are signed.
  public let signatureMethod: OAuth1SignatureMethod
  /// Where the service differs from others.
  public let options: OAuth1Options
  /// The servers whose requests are signed.
  public let origins: OriginScope
  /// What tells this session from others of one client; empty by default.
  public let name: String
  let scopes = SessionScopes()

  let trustsClockOverHTTP: Bool
  let makeNonce: @Sendable () -> String
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var signer: OAuth1Signer?
  // Protected by `lock`: grows with every sign-in and sign-out.
  nonisolated(unsafe) private var userNumber = 0
  // Protected by `lock`.
  nonisolated(unsafe) private var clocks = OAuth1Clocks()

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - consumer: The app's credentials.
  ///   - credentials: The user's, from an earlier sign-in; by default nobody is signed in.
  ///   - signatureMethod: How requests are signed; by default HMAC-SHA1.
  ///   - options: Where the service differs from others; by default nowhere.
  ///   - origins: The servers whose requests are signed; by default the base URL's origin.
  ///   - name: What tells this session from others of one client.
  ///   - trustsClockOverHTTP: Whether a service may correct the timestamp over http too, where anybody on the way can;
  ///     by default only over https.
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
    signer = credentials.map {
      OAuth1Signer(consumer: consumer, credentials: $0, method: signatureMethod, options: options)
    }
  }

  /// The credentials of the user who is signed in; `nil` if nobody is.
  public var credentials: OAuth1Credentials? { lock.withLock { signer?.credentials } }

  /// Signs with these credentials from now on.
  ///
  /// ``OAuth1Flow`` calls it at the end of a sign-in; call it yourself for credentials that you got otherwise.
  public func signIn(_ credentials: OAuth1Credentials) {
    let new = OAuth1Signer(consumer: consumer, credentials: credentials, method: signatureMethod, options: options)
    let ended = scope
    lock.withLock {
      signer = new
      userNumber += 1
    }
    if let ended, ended != scope { scopes.end(ended) }
  }

  /// Forgets the user's credentials; requests fail from now on.
  ///
  /// A request that was signed and waits further in is not sent; it fails with
  /// ``NetworkError/Code-swift.struct/signedOut``. One that is past its last check, on its way to the transport, is not
  /// waited for and may still go.
  public func signOut() {
    let ended = scope
    lock.withLock {
      signer = nil
      userNumber += 1
    }
    if let ended { scopes.end(ended) }
  }

  /// Who is signed in: a hash of the consumer's key and the token, if there is one; `nil` if nobody is.
  var scope: String? {
    guard let credentials else { return nil }
    let digest = HashFunction.sha256.digest(of: Array((consumer.key + "&" + (credentials.token ?? "")).utf8))
    return "oauth1 " + Data(digest).base64EncodedString()
  }

  /// A digest of the secrets of the consumer and the token; `nil` if nobody is signed in.
  func credentialDigest(salt: Data) -> String? {
    credentials.map { CredentialDigest.make(of: consumer.secret + "&" + $0.secret, salt: salt) }
  }

  var currentSigner: OAuth1Signer? { lock.withLock { signer } }

  /// Whose signer it is: a number that differs for every sign-in; `nil` if nobody is signed in.
  var user: Int? { lock.withLock { signer == nil ? nil : userNumber } }

  func learnedClock(of origin: Origin) -> OAuth1Clock? { lock.withLock { clocks[origin] } }

  func keep(_ clock: OAuth1Clock, of origin: Origin) { lock.withLock { clocks.keep(clock, of: origin) } }

  func forget(_ clock: OAuth1Clock, of origin: Origin) { lock.withLock { clocks.forget(clock, of: origin) } }

  func forgetClocks() { lock.withLock { clocks = OAuth1Clocks() } }

  /// The consumer's key and whether somebody is signed in, without secrets.
  public var description: String {
    "OAuth1Session(\(consumer.key), \(credentials == nil ? "signed out" : "signed in"))"
  }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
