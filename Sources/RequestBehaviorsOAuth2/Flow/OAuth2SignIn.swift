public import Foundation
import RequestBehaviors

/// A sign-in that has begun: the page to open, and the secrets to finish it with.
///
/// It is `Codable`, for an app may be ended while the user is in the browser. It is a secret: keep it in a keychain, or
/// in a file that only the user can read. No description shows it.
public struct OAuth2SignIn: Codable, Hashable, Sendable {
  /// The page to open in the browser; a secret, like the rest.
  public let url: URL
  /// The redirect URI of the sign-in.
  public let redirectURI: URL
  /// The scopes that were asked for.
  public let scopes: [String]
  /// The time at which it began; it can be finished for an hour.
  public let date: Date
  let state: String
  let verifier: String
  let nonce: String?
  let issuer: String?
  let announcesIssuer: Bool
  let tokenEndpoint: URL
  let clientID: String
  let keyThumbprint: String?
  let format: Int

  /// The number of the format that this version writes and reads.
  static let currentFormat = 1

  /// The time for which a sign-in can be finished.
  static let lifetime: TimeInterval = 3_600

  init(
    url: URL, redirectURI: URL, scopes: [String], date: Date, state: String, verifier: String, nonce: String?,
    server: OAuth2Server, clientID: String, keyThumbprint: String?
  ) {
    self.url = url
    self.redirectURI = redirectURI
    self.scopes = scopes
    self.date = date
    self.state = state
    self.verifier = verifier
    self.nonce = nonce
    self.issuer = server.issuer
    self.announcesIssuer = server.announcesIssuer
    self.tokenEndpoint = server.token
    self.clientID = clientID
    self.keyThumbprint = keyThumbprint
    self.format = OAuth2SignIn.currentFormat
  }

  /// The sign-in of the task that shows its page, for receivers of callbacks: after a push the page does not tell.
  @TaskLocal static var current: OAuth2SignIn?
}

extension OAuth2SignIn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The host of the page and the time of the beginning.
  public var description: String { "sign-in at \(url.host() ?? "") since \(date.text)" }

  /// The description: dumping a sign-in must not show it.
  public var debugDescription: String { description }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
