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
  /// The requests with a signature of this session that are being handed to transports.
  let handOvers = HandOvers()

  let trustsClockOverHTTP: Bool
  let makeNonce: @Sendable () -> String
  private let state: Locked<State>

  private struct User {
    var signer: OAuth1Signer
    /// The owner of responses, which a renewal of the credentials keeps.
    let scope: String
    /// The secret that separates responses of the same owner; empty for an account that the app names.
    let secret: String
    /// The credentials that the last renewal replaced.
    var replaced: OAuth1Credentials?
  }

  private struct State {
    var user: User?
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
    state = Locked(State())
    // This is no sign-in: it does not tell that the users of earlier launches have left.
    if let credentials { state.withLock { $0.user = user(credentials) } }
  }

  /// The credentials of the signed-in user; `nil` if no user is signed in.
  public var credentials: OAuth1Credentials? { currentSigner?.credentials }

  /// Signs with these credentials from now on.
  ///
  /// ``OAuth1Flow`` calls it at the end of a sign-in; call it yourself for credentials that you got otherwise.
  ///
  /// The owner of responses, and of what a queue keeps, follows from the token. To keep the same owner with every
  /// token, name the account with ``signIn(_:as:)``. The credentials that are in place already change nothing.
  public func signIn(_ credentials: OAuth1Credentials) { take(credentials) }

  /// Signs from now on with the credentials of a user whom the app knows by name.
  ///
  /// It differs from ``signIn(_:)`` in that the same account is the same owner each time: after every launch, and
  /// with every token. A queue that is kept over a sign-out, or over a renewal and a launch, belongs to the user again.
  ///
  /// ```swift
  /// try session.signIn(stored, as: profile.userID)
  /// ```
  ///
  /// Sign in so at a launch too, instead of with the credentials of the initializer.
  ///
  /// - Parameters:
  ///   - credentials: The credentials.
  ///   - account: The name or number of the user, unique at the service; only a hash of it is kept.
  /// - Throws: `NetworkError` of code `invalidRequest` if the name is empty; the session is as it was then.
  public func signIn(_ credentials: OAuth1Credentials, as account: String) throws {
    try SessionAccount.check(account)
    take(credentials, id: SessionAccount.id(of: account, in: name))
  }

  /// Forgets the user's credentials; requests fail from now on.
  ///
  /// A signed request that still waits in a behavior is not sent; it fails with
  /// `NetworkError.Code.signedOut`. A request past its last check, on its way to the transport, may
  /// still go; this method does not wait for it.
  public func signOut() { state.withLock { replaceUser(with: nil, in: &$0) } }

  /// The user for whom the service is asked for credentials, and whether they replace those of that user.
  struct Mark {
    fileprivate let userNumber: Int
    fileprivate let isRenewal: Bool
  }

  /// Returns the mark to end a sign-in with, or a renewal of these credentials.
  func mark(exchanging credentials: OAuth1Credentials) -> Mark {
    state.withLock { state in
      // Of two renewals one after the other, the second may have begun with the credentials that the first replaced.
      let isRenewal = [state.user?.signer.credentials, state.user?.replaced].contains(credentials)
      return Mark(userNumber: state.userNumber, isRenewal: isRenewal)
    }
  }

  /// Signs with the credentials that the service gave, unless a sign-in or sign-out was asked for meanwhile.
  ///
  /// The user of a renewal stays the same owner.
  ///
  /// - Throws: `NetworkError` of code `signedOut`, or of code `invalidRequest` if the name of the account is empty; the
  ///   session is as it was then.
  func signIn(_ credentials: OAuth1Credentials, as account: String?, since mark: Mark) throws {
    try SessionAccount.check(account)
    let id = account.map { SessionAccount.id(of: $0, in: name) }
    guard take(credentials, id: id, since: mark) else { throw NetworkError.signInOvertaken() }
  }

  /// Signs in; returns false if that is void because the user has changed since the mark.
  @discardableResult
  private func take(_ credentials: OAuth1Credentials, id: String? = nil, since mark: Mark? = nil) -> Bool {
    let new = user(credentials, id: id)
    return state.withLock { state in
      if let mark, mark.userNumber != state.userNumber { return false }
      if mark?.isRenewal == true {
        let replaced = state.user?.signer.credentials
        state.user?.replaced = replaced
        state.user?.signer = new.signer
        return true
      }
      let isInPlace = state.user?.signer.credentials == credentials && (id == nil || id == state.user?.scope)
      if !isInPlace { replaceUser(with: new, in: &state) }
      return true
    }
  }

  /// Replaces the user; under the lock, so that no call sees the new user before the old owner has ended.
  private func replaceUser(with new: User?, in state: inout State) {
    if let ended = state.user?.scope, ended != new?.scope { scopes.end(ended, handingOver: handOvers) }
    state.user = new
    state.userNumber += 1
  }

  /// Returns the user of credentials; without an id, the owner is a hash of the consumer's key and the token, if any.
  private func user(_ credentials: OAuth1Credentials, id: String? = nil) -> User {
    let signer = OAuth1Signer(consumer: consumer, credentials: credentials, method: signatureMethod, options: options)
    if let id { return User(signer: signer, scope: id, secret: "") }
    let digest = HashFunction.sha256.digest(of: Array((consumer.key + "&" + (credentials.token ?? "")).utf8))
    return User(signer: signer, scope: "oauth1 " + Data(digest).base64EncodedString(), secret: credentials.secret)
  }

  /// The signed-in user, as one look at the session found it.
  struct SignedIn: Sendable {
    /// The number of the user, which differs for every sign-in.
    let number: Int
    let signer: OAuth1Signer
    /// The owner of responses.
    let scope: String
  }

  /// The signed-in user; `nil` if no user is signed in.
  var signedIn: SignedIn? {
    state.withLock { state in
      state.user.map { SignedIn(number: state.userNumber, signer: $0.signer, scope: $0.scope) }
    }
  }

  /// The owner of responses; `nil` if no user is signed in.
  var scope: String? { state.withLock { $0.user?.scope } }

  /// Returns a digest of the secrets of the consumer and the token; `nil` if no user is signed in.
  func credentialDigest(salt: Data) -> String? {
    state.withLock { $0.user?.secret }.map { CredentialDigest.make(of: consumer.secret + "&" + $0, salt: salt) }
  }

  var currentSigner: OAuth1Signer? { state.withLock { $0.user?.signer } }

  /// The number of sign-ins and sign-outs so far.
  var userNumber: Int { state.withLock { $0.userNumber } }

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
