public import Foundation
import RequestBehaviors

/// A sign-in on another device that has begun: the page to open there, and the code to type (RFC 8628 §3.2).
///
/// It is `Codable`, for a tool may be ended meanwhile, and it is a secret: keep it as the token is kept.
/// A code that was kept has the server's first interval. A server that had asked for a longer one by `slow_down` (§3.5)
/// asks for it again.
public struct OAuth2DeviceCode: Codable, Hashable, Sendable {
  /// The page to open on the other device, http or https.
  public let page: URL
  /// The code to type there.
  public let userCode: String
  /// The page with the code in it, a secret, for a picture to scan; `nil` if the server sent none.
  public let pageWithCode: URL?
  /// The date after which the codes are of no use.
  public let expiresAt: Date
  let deviceCode: String
  let lifetime: Double
  let interval: Double
  let scopes: [String]
  let tokenEndpoint: URL
  let clientID: String
  let format: Int

  /// The number of the format that this version writes and reads.
  static let currentFormat = 1

  /// Reads a response (§3.2).
  ///
  /// - Throws: `NetworkError` of code `oauth2InvalidResponse`, which names the rule.
  init(
    _ response: NetworkResponse, scopes: [String], server: OAuth2Server, clientID: String, now: Date
  ) throws {
    func invalid(_ reason: String) -> NetworkError {
      .invalidResponse("the response to the request for a device code breaks a rule: \(reason)", response)
    }
    guard let members = JSONObject(response) else { throw invalid("it is not a JSON object") }
    guard let code = members.text("device_code"), !code.isEmpty else { throw invalid("it has no device_code") }
    // A terminal obeys control characters.
    guard let userCode = members.text("user_code"), !userCode.isEmpty,
      userCode.unicodeScalars.allSatisfy(\.isVisible)
    else { throw invalid("its user_code is missing, or has control characters") }
    guard let page = (members.text("verification_uri") ?? members.text("verification_url")).flatMap(Self.page) else {
      throw invalid("its verification_uri is missing, or is not an http or https URL")
    }
    let seconds =
      members.has("expires_in") ? members.number("expires_in") ?? Double(members.text("expires_in") ?? "") : 1_800
    guard let seconds, seconds > 0, seconds.isFinite else { throw invalid("its expires_in is not a positive number") }
    (self.page, self.userCode, deviceCode) = (page, userCode, code)
    pageWithCode = (members.text("verification_uri_complete") ?? members.text("verification_url_complete"))
      .flatMap(Self.page)
    lifetime = min(seconds, 86_400 * 365)
    expiresAt = now.addingTimeInterval(lifetime)
    // §3.2: 5 seconds if the server says nothing of use.
    let wanted = members.number("interval") ?? 5
    interval = wanted > 0 && wanted <= 3_600 ? max(1, wanted) : 5
    self.scopes = scopes
    tokenEndpoint = server.token
    self.clientID = clientID
    format = Self.currentFormat
  }

  private static func page(_ text: String) -> URL? {
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased() ?? ""), url.host() != nil
    else { return nil }
    return url
  }
}

extension OAuth2DeviceCode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The host of the page and the expiry.
  public var description: String { "device sign-in at \(page.host() ?? ""), expires \(expiresAt.text)" }

  /// The description: dumping a code must not show it.
  public var debugDescription: String { description }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
