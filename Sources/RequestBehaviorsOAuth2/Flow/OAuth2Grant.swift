import Foundation
public import RequestBehaviors

/// The result of a sign-in: the token, its scopes, the ID token, and the other members of the response.
public struct OAuth2Grant: Sendable {
  /// The token, with which the session is signed in.
  public let token: AccessToken
  /// The scopes that were given; those that were asked for if the server did not say (RFC 6749 §5.1).
  public let scopes: Set<String>
  /// The claims about the user; `nil` unless the scope `openid` was asked for.
  public let idToken: IDToken?
  private let members: JSONObject?

  init(_ token: AccessToken, idToken: IDToken?, members: JSONObject?) {
    self.token = token
    self.scopes = token.scopes
    self.idToken = idToken
    self.members = members
  }

  /// The text of another member of the response, such as a team or an instance URL; `nil` if there is no such member,
  /// or if it is a list or an object.
  public subscript(_ name: String) -> String? { members?.shown(name) }
}

extension OAuth2Grant: CustomStringConvertible, CustomReflectable {
  /// The token and the scopes, without secrets.
  public var description: String { "\(token)" + (idToken.map { ", \($0)" } ?? "") }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
