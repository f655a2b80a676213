public import Foundation

/// A token from a server: its value, its expiry, and the refresh token for a newer one.
///
/// ```swift
/// let token = AccessToken(
///   "2YotnFZFEjr1zCsicMWpAA", lifetime: .seconds(3_600),
///   refreshToken: "tGzv3JOkF0XG5Qx2TlKWIA")
/// ```
///
/// It decodes OAuth 2 responses (RFC 6749 §5.1) and their known variants; see ``init(from:)``. No description of it
/// shows the token.
public struct AccessToken: Sendable, Hashable {
  /// The token itself, a secret.
  public var value: String

  /// The type that the server gave it, which most APIs want in the `Authorization` field; `Bearer` by default.
  public var type: String

  /// The date of its expiry; `nil` if that is not known, or follows from ``lifetime``.
  public var expiresAt: Date?

  /// The time from when it was got to its expiry; `nil` if that is not known.
  ///
  /// Some servers send zero or less for a token that does not expire; such a lifetime counts as not known.
  public var lifetime: Duration?

  /// The refresh token, a secret; `nil` if the server gave none.
  public var refreshToken: String?

  /// The OAuth scopes of the token; empty if the server did not say.
  public var scopes: Set<String>

  /// The id of its owner: made up when a session begins and kept when its token is refreshed.
  ///
  /// It is no secret.
  package var sessionID: String?

  /// The id of the sign-in that it comes from, where the owner is named and so has the same id after each sign-in.
  ///
  /// It is kept when the token is refreshed, and is no secret.
  package var signInID: String?

  /// The thumbprint of the key to which the server bound the token; `nil` if there is no such key.
  ///
  /// It is no secret.
  package var keyThumbprint: String?

  /// Creates a token.
  ///
  /// - Parameters:
  ///   - value: The token itself.
  ///   - type: The type that the server gave it.
  ///   - expiresAt: The date of its expiry.
  ///   - lifetime: The time from when it was got to its expiry.
  ///   - refreshToken: The refresh token.
  ///   - scopes: Its OAuth scopes.
  public init(
    _ value: String, type: String = "Bearer", expiresAt: Date? = nil, lifetime: Duration? = nil,
    refreshToken: String? = nil, scopes: Set<String> = []
  ) {
    self.value = value
    self.type = type
    self.expiresAt = expiresAt
    self.lifetime = lifetime
    self.refreshToken = refreshToken
    self.scopes = scopes
  }
}

extension AccessToken {
  /// The token as it came from a server or the user: with its expiry date and lifetime completed from each other.
  ///
  /// Drops a session id that came with it. Trusting it could serve one user's cached responses to another.
  func received(at date: Date) -> AccessToken {
    var token = self
    (token.sessionID, token.signInID) = (nil, nil)
    if let lifetime, lifetime > .zero, expiresAt == nil {
      token.expiresAt = date.addingTimeInterval(lifetime.inSeconds)
    }
    if let expiresAt, lifetime == nil {
      token.lifetime = Duration(clamping: max(0, expiresAt.timeIntervalSince(date)))
    }
    return token
  }

  /// The id of the sign-in that it comes from; `nil` if that is not known.
  ///
  /// An owner without a name has a new id with each sign-in.
  var signIn: String? { signInID ?? sessionID.flatMap { SessionAccount.isID($0) ? nil : $0 } }

  /// Whether the value or the type has control characters, which no header field may have (RFC 9110 §5.5).
  var hasControlCharacters: Bool { (value + type).utf8.contains { $0 < 0x20 || $0 == 0x7F } }

  /// The flaw of a token that is neither read nor sent; `nil` for any other token.
  private var flaw: String? { hasControlCharacters ? "has control characters" : value.isEmpty ? "is empty" : nil }

  /// Throws if the token cannot be sent.
  func checkCharacters() throws {
    // No header field begins or ends with a space (RFC 9110 §5.5).
    let hasOuterSpace = value.first == " " || value.last == " "
    guard let flaw = flaw ?? (hasOuterSpace ? "begins or ends with a space" : nil) else { return }
    throw NetworkError(.tokenUnavailable, "the token \(flaw) and cannot be sent")
  }

  /// Throws if a store would not find the token again, because decoding refuses it.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``, which does not show it.
  package func checkReadableAgain() throws {
    guard let flaw else { return }
    throw NetworkError.tokenStoreFailed("the token \(flaw) and could not be read again, so it is not stored")
  }

  /// The time until it expires; `nil` if it does not say.
  ///
  /// A date further away than the lifetime shows that the clock was set back; the lifetime then counts.
  func remaining(at date: Date) -> Duration? {
    let lifetime = lifetime.flatMap { $0 > .zero ? $0 : nil }
    guard let expiresAt else { return lifetime }
    let left = Duration(clamping: expiresAt.timeIntervalSince(date))
    return lifetime.map { min($0, left) } ?? left
  }

  /// Whether two tokens are the same.
  ///
  /// A value that one of them lacks does not count, because stores may drop it.
  package static func isSame(_ one: AccessToken?, _ other: AccessToken?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    func agree(_ first: String?, _ second: String?) -> Bool { first == second || first == nil || second == nil }
    return one.value == other.value && agree(one.refreshToken, other.refreshToken)
      && agree(one.sessionID, other.sessionID)
  }

  /// Returns the token with the values that a refresh left out and that therefore stay as they were (RFC 6749 §6).
  func completed(from older: AccessToken) -> AccessToken {
    var token = self
    token.refreshToken = refreshToken.flatMap { $0.isEmpty ? nil : $0 } ?? older.refreshToken
    if scopes.isEmpty { token.scopes = older.scopes }
    (token.sessionID, token.signInID) = (older.sessionID, older.signInID)
    return token
  }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Type, expiry and scopes, with both secrets hidden.
  public var description: String {
    var text = "\(type) token \(Redactor.placeholder)"
    if let expiresAt { text += ", expires \(expiresAt.text)" }
    if expiresAt == nil, let lifetime { text += ", lifetime \(lifetime)" }
    if refreshToken != nil { text += ", with a refresh token" }
    if !scopes.isEmpty { text += ", scopes \(scopes.sorted().joined(separator: " "))" }
    return text
  }

  /// The description: dumping a token must not show it.
  public var debugDescription: String { description }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
