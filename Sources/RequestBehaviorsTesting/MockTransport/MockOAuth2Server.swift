public import Foundation
public import RequestBehaviors

/// An OAuth 2 authorization server of ``MockTransport/oauth2(lifetime:members:)``, and the user at its pages.
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
  }

  private let baseURL: URL
  private let lifetime: Int
  private let members: [String: String]
  private let state = Locked(State())

  init(baseURL: URL, lifetime: Int, members: [String: String]) {
    (self.baseURL, self.lifetime, self.members) = (baseURL, lifetime, members)
  }

  // MARK: - The user's part

  /// Consents at the page of a sign-in.
  ///
  /// - Parameter page: The page that the sign-in opens.
  /// - Returns: The callback, with a code.
  /// - Throws: `NetworkError` of code `invalidRequest` if the page breaks a rule: it needs `response_type=code`, a
  ///   redirect URI, a state, and a challenge by S256.
  public func authorize(_ page: URL) throws -> URL {
    let query = Query(percentEncoded: page.query(percentEncoded: true) ?? "")
    guard query["response_type"] == "code", let redirect = query["redirect_uri"], query["state"] != nil,
      let challenge = query["code_challenge"], query["code_challenge_method"] == "S256"
    else {
      throw NetworkError(
        .invalidRequest, "the page lacks response_type=code, redirect_uri, state, or a challenge by S256")
    }
    let code = state.withLock { state in
      state.number += 1
      let code = "code-\(state.number)"
      state.codes[code] = Grant(
        family: state.number, challenge: challenge, redirect: redirect, scope: query["scope"])
      return code
    }
    return .callback(to: page, code: code)
  }

  /// Refuses at the page of a sign-in.
  ///
  /// - Parameter page: The page that the sign-in opens.
  /// - Returns: The callback, with the error `access_denied`.
  public func deny(_ page: URL) -> URL { .callback(to: page, code: nil, ["error": "access_denied"]) }

  /// Consents on the other device, with the code that this one shows.
  ///
  /// - Parameter userCode: The code that the device shows.
  public func approve(userCode: String) {
    state.withLock { state in
      state.number += 1
      state.devices["device-" + userCode] = Grant(family: state.number)
    }
  }

  /// Whether a token of this server may be used: it is neither revoked nor of a sign-in that has ended.
  public func accepts(_ token: AccessToken) -> Bool {
    state.withLock { state in state.accessTokens[token.value].map { !state.endedFamilies.contains($0) } ?? false }
  }

  // MARK: - The endpoints

  func token(_ request: NetworkRequest) throws -> NetworkResponse {
    let form = try request.form
    return state.withLock { state in
      switch form["grant_type"] {
      case "authorization_code": exchange(form, &state, request)
      case "refresh_token": refresh(form, &state, request)
      case "client_credentials": respond(Grant(family: -1, scope: form["scope"]), &state, request)
      case "urn:ietf:params:oauth:grant-type:device_code": device(form, &state, request)
      default: error("unsupported_grant_type", request)
      }
    }
  }

  private func exchange(_ form: Query, _ state: inout State, _ request: NetworkRequest) -> NetworkResponse {
    guard let code = form["code"], let grant = state.codes[code] else { return error("invalid_grant", request) }
    let hash = Digest.sha256(of: form["code_verifier"] ?? "").base64
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    state.codes[code]?.isSpent = true
    guard !grant.isSpent, grant.redirect == form["redirect_uri"], grant.challenge == hash else {
      // A code that comes twice may be stolen (RFC 6749 §4.1.2).
      state.endedFamilies.insert(grant.family)
      return error("invalid_grant", request)
    }
    return respond(grant, &state, request)
  }

  private func refresh(_ form: Query, _ state: inout State, _ request: NetworkRequest) -> NetworkResponse {
    guard let token = form["refresh_token"], let grant = state.refreshTokens[token],
      !state.endedFamilies.contains(grant.family)
    else { return error("invalid_grant", request) }
    guard !grant.isSpent else {
      state.endedFamilies.insert(grant.family)
      return error("invalid_grant", request)
    }
    state.refreshTokens[token]?.isSpent = true
    return respond(grant, &state, request)
  }

  private func device(_ form: Query, _ state: inout State, _ request: NetworkRequest) -> NetworkResponse {
    guard let code = form["device_code"], let device = state.devices[code] else {
      return error("expired_token", request)
    }
    guard let grant = device else { return error("authorization_pending", request) }
    state.devices[code] = nil
    return respond(grant, &state, request)
  }

  func deviceCodes(_ request: NetworkRequest) throws -> NetworkResponse {
    let userCode = state.withLock { state in
      state.number += 1
      state.devices["device-USER-\(state.number)"] = .some(nil)
      return "USER-\(state.number)"
    }
    let page = baseURL.appending(path: "device").absoluteString
    return json(
      [
        "device_code": "device-" + userCode, "user_code": userCode, "verification_uri": page, "expires_in": 600,
        "interval": 5,
      ], 200, request)
  }

  func revocation(_ request: NetworkRequest) throws -> NetworkResponse {
    let token = try request.form["token"] ?? ""
    state.withLock { state in
      guard let family = state.refreshTokens[token]?.family ?? state.accessTokens[token] else { return }
      state.endedFamilies.insert(family)
    }
    return NetworkResponse(request: request, statusCode: 200)
  }

  private func respond(_ grant: Grant, _ state: inout State, _ request: NetworkRequest) -> NetworkResponse {
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
    return json(object, 200, request)
  }

  private func error(_ code: String, _ request: NetworkRequest) -> NetworkResponse {
    json(["error": code], 400, request)
  }

  private func json(_ object: [String: any Sendable], _ status: Int, _ request: NetworkRequest) -> NetworkResponse {
    let body = (try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)) ?? Data()
    return NetworkResponse(
      request: request, statusCode: status,
      headers: ["Content-Type": "application/json", "Cache-Control": "no-store"], body: .data(body))
  }
}
