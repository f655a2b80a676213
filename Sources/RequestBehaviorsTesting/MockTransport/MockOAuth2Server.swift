public import Foundation
public import RequestBehaviors

/// An OAuth 2 authorization server for tests, and the user at its pages.
///
/// It is behind a mock by ``MockTransport/oauth2(lifetime:members:)``, or behind a ``LoopbackServer`` by
/// ``response(to:)``.
///
/// A code is exchanged once, with the verifier of its challenge and the same redirect URI (RFC 6749 §4.1.3, RFC 7636
/// §4.6). A refresh token is spent once, and using it again ends the sign-in (RFC 9700 §4.14.2). A revoked token is of
/// no use. A request that breaks a rule gets the error of RFC 6749 §5.2.
public final class MockOAuth2Server: Sendable {
  private struct Grant {
    var family: Int
    var challenge: String?
    var redirect: String?
    var scope: String?
    var isSpent = false
  }

  private struct State {
    var codes: [String: Grant] = [:]
    var devices: [String: Grant?] = [:]
    var refreshTokens: [String: Grant] = [:]
    var endedFamilies: Set<Int> = []
    var accessTokens: [String: Int] = [:]
    var number = 0
    var reuses = 0
  }

  private let lifetime: Int
  private let members: [String: String]
  private let state = Locked(State())

  /// Creates a server without sign-ins.
  ///
  /// - Parameters:
  ///   - lifetime: The lifetime that token responses tell, in seconds; an hour by default.
  ///   - members: Further members of each token response, such as a team.
  public init(lifetime: Int = 3_600, members: [String: String] = [:]) {
    (self.lifetime, self.members) = (lifetime, members)
  }

  // MARK: - The user's part

  /// Consents at the page of a sign-in.
  ///
  /// - Parameter page: The page that the sign-in opens.
  /// - Returns: The callback, with a code.
  /// - Throws: `NetworkError` of code `invalidRequest` if the page breaks a rule: it needs `response_type=code`, a
  ///   redirect URI, a state, and a challenge by S256.
  public func authorize(_ page: URL) throws -> URL { try authorize(page, issuer: nil) }

  /// Consents at a page; the callback names the issuer, if there is one (RFC 9207).
  func authorize(_ page: URL, issuer: String?) throws -> URL {
    let query = try MockOAuth2Server.check(page)
    let code = state.withLock { state in
      state.number += 1
      let code = "code-\(state.number)"
      state.codes[code] = Grant(
        family: state.number, challenge: query["code_challenge"], redirect: query["redirect_uri"],
        scope: query["scope"])
      return code
    }
    return .callback(to: page, code: code, ["iss": issuer])
  }

  /// Returns the parameters of a page.
  ///
  /// - Throws: As ``authorize(_:)``.
  static func check(_ page: URL) throws -> Query {
    let query = Query(percentEncoded: page.query(percentEncoded: true) ?? "")
    guard query["response_type"] == "code", query["redirect_uri"] != nil, query["state"] != nil,
      query["code_challenge"] != nil, query["code_challenge_method"] == "S256"
    else {
      throw NetworkError(
        .invalidRequest, "the page lacks response_type=code, redirect_uri, state, or a challenge by S256")
    }
    return query
  }

  /// Refuses at the page of a sign-in.
  ///
  /// - Parameter page: The page that the sign-in opens.
  /// - Returns: The callback, with the error `access_denied`.
  public func deny(_ page: URL) -> URL { deny(page, issuer: nil) }

  /// Refuses at a page; the callback names the issuer, if there is one.
  func deny(_ page: URL, issuer: String?) -> URL {
    .callback(to: page, code: nil, ["error": "access_denied", "iss": issuer])
  }

  /// Consents on the other device, with the code that this one shows.
  ///
  /// - Parameter userCode: The code that the device shows.
  /// - Throws: `NetworkError` of code `invalidRequest` if no device was given this code, or its sign-in is over.
  public func approve(userCode: String) throws {
    try state.withLock { state in
      guard state.devices["device-" + userCode] != nil else {
        throw NetworkError(
          .invalidRequest,
          "no device waits for a consent with the user code \"\(userCode)\"; the server gave no such code, or the sign-in "
            + "is over")
      }
      state.number += 1
      state.devices["device-" + userCode] = Grant(family: state.number)
    }
  }

  // MARK: - What the server knows

  /// Whether a token of this server may be used: it is neither revoked nor of a sign-in that has ended.
  public func accepts(_ token: AccessToken) -> Bool {
    state.withLock { state in state.accessTokens[token.value].map { !state.endedFamilies.contains($0) } ?? false }
  }

  /// The number of requests with a code or a refresh token that had been spent.
  public var reuseCount: Int { state.withLock { $0.reuses } }

  /// Makes all access tokens that were given so far invalid, as their expiry does; refresh tokens remain valid.
  public func expireAccessTokens() { state.withLock { $0.accessTokens = [:] } }

  // MARK: - The endpoints

  /// The status and the members of a response.
  struct Reply: Sendable {
    var status = 200
    var members: [String: any Sendable] = [:]

    static func error(_ code: String) -> Reply { Reply(status: 400, members: ["error": code]) }

    /// The members as JSON; empty without members.
    var body: Data {
      members.isEmpty
        ? Data()
        : (try? JSONSerialization.data(withJSONObject: members, options: [.sortedKeys, .withoutEscapingSlashes]))
          ?? Data()
    }
  }

  /// The path of the metadata of a server whose URL has no path (RFC 8414 §3.1).
  static let metadataPath = "/.well-known/oauth-authorization-server"

  /// The issuer of a server, which is its URL without a slash at the end.
  func issuer(_ baseURL: URL) -> String {
    let text = baseURL.absoluteString
    return text.hasSuffix("/") ? String(text.dropLast()) : text
  }

  /// Returns the metadata of the server (RFC 8414 §2).
  ///
  /// - Parameters:
  ///   - baseURL: The URL of the server.
  ///   - announcesIssuer: Whether every callback names the issuer.
  /// - Returns: The document.
  func metadata(_ baseURL: URL, announcesIssuer: Bool) -> Reply {
    func url(_ endpoint: String) -> String { baseURL.appending(path: endpoint).absoluteString }
    return Reply(members: [
      "issuer": issuer(baseURL), "authorization_endpoint": url("authorize"), "token_endpoint": url("token"),
      "revocation_endpoint": url("revoke"), "device_authorization_endpoint": url("device"),
      "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": announcesIssuer,
    ])
  }

  /// Returns the response to a form.
  ///
  /// - Parameters:
  ///   - endpoint: The last component of the endpoint's path.
  ///   - form: The fields.
  ///   - baseURL: The URL of the server, with a slash at the end.
  /// - Returns: The response; `nil` if the server has no such endpoint.
  func reply(at endpoint: String, to form: Query, baseURL: URL) -> Reply? {
    state.withLock { state in
      switch endpoint {
      case "token": token(form, &state)
      case "revoke": revocation(form, &state)
      case "device": deviceCodes(&state, baseURL)
      default: nil
      }
    }
  }

  private func token(_ form: Query, _ state: inout State) -> Reply {
    switch form["grant_type"] {
    case "authorization_code": exchange(form, &state)
    case "refresh_token": refresh(form, &state)
    case "client_credentials": serviceToken(form, &state)
    case "urn:ietf:params:oauth:grant-type:device_code": device(form, &state)
    default: .error("unsupported_grant_type")
    }
  }

  private func serviceToken(_ form: Query, _ state: inout State) -> Reply {
    state.number += 1
    // A family of its own, so that a revocation ends this token alone; a negative one gets no refresh token.
    return respond(Grant(family: -state.number, scope: form["scope"]), &state)
  }

  private func exchange(_ form: Query, _ state: inout State) -> Reply {
    guard let code = form["code"], let grant = state.codes[code] else { return .error("invalid_grant") }
    let hash = Digest.sha256(of: form["code_verifier"] ?? "").base64
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    state.codes[code]?.isSpent = true
    if grant.isSpent { state.reuses += 1 }
    guard !grant.isSpent, grant.redirect == form["redirect_uri"], grant.challenge == hash else {
      // A code that comes twice may be stolen (RFC 6749 §4.1.2).
      state.endedFamilies.insert(grant.family)
      return .error("invalid_grant")
    }
    return respond(grant, &state)
  }

  private func refresh(_ form: Query, _ state: inout State) -> Reply {
    guard let token = form["refresh_token"], let grant = state.refreshTokens[token] else {
      return .error("invalid_grant")
    }
    if grant.isSpent { state.reuses += 1 }
    guard !grant.isSpent, !state.endedFamilies.contains(grant.family) else {
      state.endedFamilies.insert(grant.family)
      return .error("invalid_grant")
    }
    state.refreshTokens[token]?.isSpent = true
    return respond(grant, &state)
  }

  private func device(_ form: Query, _ state: inout State) -> Reply {
    guard let code = form["device_code"], let device = state.devices[code] else { return .error("expired_token") }
    guard let grant = device else { return .error("authorization_pending") }
    state.devices[code] = nil
    return respond(grant, &state)
  }

  private func deviceCodes(_ state: inout State, _ baseURL: URL) -> Reply {
    state.number += 1
    let userCode = "USER-\(state.number)"
    state.devices["device-" + userCode] = .some(nil)
    return Reply(members: [
      "device_code": "device-" + userCode, "user_code": userCode,
      "verification_uri": baseURL.appending(path: "device").absoluteString, "expires_in": 600, "interval": 5,
    ])
  }

  private func revocation(_ form: Query, _ state: inout State) -> Reply {
    let token = form["token"] ?? ""
    guard let family = state.refreshTokens[token]?.family ?? state.accessTokens[token] else { return Reply() }
    state.endedFamilies.insert(family)
    return Reply()
  }

  private func respond(_ grant: Grant, _ state: inout State) -> Reply {
    state.number += 1
    var object: [String: any Sendable] = members
    object["access_token"] = "access-\(state.number)"
    object["token_type"] = "Bearer"
    object["expires_in"] = lifetime
    object["scope"] = grant.scope
    state.accessTokens["access-\(state.number)"] = grant.family
    if grant.family > 0 {
      object["refresh_token"] = "refresh-\(state.number)"
      var next = grant
      next.isSpent = false
      state.refreshTokens["refresh-\(state.number)"] = next
    }
    return Reply(members: object)
  }
}
