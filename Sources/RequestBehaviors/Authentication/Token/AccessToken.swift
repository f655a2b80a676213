public import Foundation

/// A token that a server gave: what is sent, until when it is good, and what a newer one is got with.
///
/// ```swift
/// let token = AccessToken(
///   "2YotnFZFEjr1zCsicMWpAA", lifetime: .seconds(3_600),
///   refreshToken: "tGzv3JOkF0XG5Qx2TlKWIA")
/// ```
///
/// It decodes OAuth 2 answers (RFC 6749 §5.1) and the variants of them that servers are known for; see
/// ``init(from:)``. No description of it shows the token.
public struct AccessToken: Sendable, Hashable {
  /// The token itself, a secret.
  public var value: String

  /// The type that the server gave it, which most APIs want in the `Authorization` field; `Bearer` by default.
  public var type: String

  /// When it expires; `nil` if that is not known, or follows from ``lifetime``.
  public var expiresAt: Date?

  /// How long it is good for from when it was got; `nil` if that is not known.
  ///
  /// A lifetime of zero or less, by which servers say that a token does not expire, is none.
  public var lifetime: Duration?

  /// What a newer token is got with, a secret; `nil` if the server gave none.
  public var refreshToken: String?

  /// What the token allows; empty if the server did not say.
  public var scopes: Set<String>

  /// Whose token it is: made up when a session begins, kept when its token is refreshed, no secret.
  package var sessionID: String?

  /// Creates a token.
  ///
  /// - Parameters:
  ///   - value: The token itself.
  ///   - type: The type that the server gave it.
  ///   - expiresAt: When it expires.
  ///   - lifetime: How long it is good for from when it was got.
  ///   - refreshToken: What a newer token is got with.
  ///   - scopes: What it allows.
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
  /// The id of its session is left out: the token of another session would bring its user's cached responses with it.
  func received(at date: Date) -> AccessToken {
    var token = self
    token.sessionID = nil
    if let lifetime, lifetime > .zero, expiresAt == nil {
      token.expiresAt = date.addingTimeInterval(lifetime.seconds)
    }
    if let expiresAt, lifetime == nil {
      token.lifetime = Duration(clamping: max(0, expiresAt.timeIntervalSince(date)))
    }
    return token
  }

  /// Whether what goes into a header field has control characters, which no field may have (RFC 9110 §5.5).
  var hasControlCharacters: Bool { (value + type).utf8.contains { $0 < 0x20 || $0 == 0x7F } }

  /// Throws if the token cannot be sent.
  func checkCharacters() throws {
    guard hasControlCharacters else { return }
    throw NetworkError(.tokenUnavailable, "the token has control characters and cannot be sent")
  }

  /// How long the token is good for; `nil` if it does not say.
  ///
  /// A date that is further away than the lifetime tells that the clock was set back; the lifetime then counts.
  func remaining(at date: Date) -> Duration? {
    let lifetime = lifetime.flatMap { $0 > .zero ? $0 : nil }
    guard let expiresAt else { return lifetime }
    let left = Duration(clamping: expiresAt.timeIntervalSince(date))
    return lifetime.map { min($0, left) } ?? left
  }

  /// Whether two tokens are the same one, though a store may have kept less of one of them.
  package static func isSame(_ one: AccessToken?, _ other: AccessToken?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    func agree(_ first: String?, _ second: String?) -> Bool { first == second || first == nil || second == nil }
    return one.value == other.value && agree(one.refreshToken, other.refreshToken)
      && agree(one.sessionID, other.sessionID)
  }

  /// What a refresh leaves out stays as it was (RFC 6749 §6).
  func completed(from older: AccessToken) -> AccessToken {
    var token = self
    token.refreshToken = refreshToken.flatMap { $0.isEmpty ? nil : $0 } ?? older.refreshToken
    if scopes.isEmpty { token.scopes = older.scopes }
    token.sessionID = older.sessionID
    return token
  }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Type, expiry and scopes, with both secrets hidden.
  public var description: String {
    var text = "\(type) token \(Redactor.placeholder)"
    if let expiresAt { text += ", expires \(expiresAt)" }
    if expiresAt == nil, let lifetime { text += ", lifetime \(lifetime)" }
    if refreshToken != nil { text += ", with a refresh token" }
    if !scopes.isEmpty { text += ", scopes \(scopes.sorted().joined(separator: " "))" }
    return text
  }

  /// The description: dumping a token must not show it.
  public var debugDescription: String { description }

  /// Only what the description shows.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Duration {
  /// The duration in seconds.
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

  /// Creates a duration of as many seconds, at most 100 years: what servers and clocks say may be anything.
  init(clamping seconds: Double) {
    let limit = 100 * 366 * 86_400.0
    self = seconds.isNaN ? .zero : .seconds(min(max(seconds, -limit), limit))
  }
}
