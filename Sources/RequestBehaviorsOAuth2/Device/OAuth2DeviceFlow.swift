import Foundation
public import RequestBehaviors

/// Signs a user in on another device: this one shows a page and a code, and asks until the user has decided (RFC 8628).
///
/// ```swift
/// let flow = OAuth2DeviceFlow(
///   session: session, endpoint: endpoint, scopes: ["orders.read"],
///   over: client)
/// try await flow.signIn { code in
///   print("Go to \(code.page) and type \(code.userCode)")
/// }
/// ```
///
/// It is for televisions, and for tools without a browser. Anyone who shows a user such a code can get the user's
/// token, so prefer ``OAuth2Flow`` where there is a browser.
public struct OAuth2DeviceFlow: Sendable {
  /// The session that is signed in at the end.
  public let session: TokenSession
  /// The token endpoint, made with a server.
  public let endpoint: TokenEndpoint
  /// The scopes to ask for.
  public let scopes: [String]
  private let client: NetworkClient

  /// Creates a flow.
  ///
  /// - Parameters:
  ///   - session: The session that is signed in at the end.
  ///   - endpoint: The token endpoint, made with `TokenEndpoint(server, clientID:)`.
  ///   - scopes: The scopes to ask for; by default the server chooses.
  ///   - client: The client that sends the requests, without its authentication.
  public init(session: TokenSession, endpoint: TokenEndpoint, scopes: [String] = [], over client: NetworkClient) {
    self.session = session
    self.endpoint = endpoint
    self.scopes = scopes
    self.client = client.prerequisites
  }

  /// Gets the codes (§3.1).
  ///
  /// - Returns: The page and the code to show.
  /// - Throws: `NetworkError`, of code `oauth2InvalidServer` if the server has no endpoint for devices,
  ///   `oauth2Refused` if the server says why not, and `oauth2InvalidResponse` if the response breaks a rule.
  public func begin() async throws -> OAuth2DeviceCode {
    let url = try endpoint.url(\.deviceAuthorization, "device authorization endpoint")
    do {
      let response = try await endpoint.send(at: url, using: client) {
        ["scope": scopes.isEmpty ? nil : scopes.joined(separator: " ")]
      }
      if let problem = OAuth2Problem(response) { throw NetworkError.refusal(problem, of: "the device code", response) }
      return try OAuth2DeviceCode(
        response, scopes: scopes, server: try endpoint.server, clientID: endpoint.clientID,
        now: client.configuration.clock.date())
    } catch {
      throw NetworkError.ofStep("the device code", error)
    }
  }

  /// Gets the codes, shows them, and signs the session in.
  func signIn(
    _ show: (OAuth2DeviceCode) async throws -> Void, by name: (OAuth2Grant) async throws -> String?
  ) async throws -> OAuth2Grant {
    let code = try await begin()
    // The date may change while the code is shown, for example when a new device first reaches a time server.
    let end = client.configuration.clock.now() + Duration(clamping: code.lifetime)
    try await show(code)
    return try await finish(code, until: end, by: name)
  }

  /// Waits until the user has decided, and signs the session in.
  ///
  /// - Parameters:
  ///   - code: The codes.
  ///   - end: The monotonic time at which they expire; `nil` for their date.
  ///   - name: Returns the name of the account.
  /// - Returns: The grant.
  /// - Throws: As the public `finish`.
  func finish(
    _ code: OAuth2DeviceCode, until end: Duration? = nil, by name: (OAuth2Grant) async throws -> String?
  ) async throws -> OAuth2Grant {
    guard code.format == OAuth2DeviceCode.currentFormat else {
      throw NetworkError(.oauth2Expired, "the device code has the format \(code.format); begin another sign-in")
    }
    // A secret of this flow's client must not go to the server of another one.
    guard code.clientID == endpoint.clientID, code.tokenEndpoint == (try endpoint.server.token) else {
      throw NetworkError.invalidServer(
        "the device code is of another client or token endpoint; finish it with the flow that began it")
    }
    let clock = client.configuration.clock
    let request = (scopes: code.scopes, mark: await session.signInMark(on: clock))
    // A date that is further away than the codes last was written by a clock that has been set back since.
    let left = min(code.expiresAt.timeIntervalSince(clock.date()), code.lifetime)
    var poll = DevicePoll(
      interval: max(.seconds(1), Duration(clamping: code.interval)), end: end ?? clock.now() + Duration(clamping: left))
    var step = poll.next(now: clock.now())
    while case .ask(let wait) = step {
      try await client.wait(for: wait)
      switch try await ask(code) {
      case .done(let result):
        return try await session.signIn(result, request, naming: name) { [endpoint, client] in
          await endpoint.discard($0, over: client)
        }
      case .wait(let answer): step = poll.next(after: answer, now: clock.now())
      }
    }
    if case .expire(let wait) = step { try await client.wait(for: wait) }
    throw NetworkError(.oauth2Expired, "the user did not decide before the device code expired; begin another sign-in")
  }

  private enum Result {
    case done((token: AccessToken, response: NetworkResponse))
    case wait(DevicePoll.Answer)
  }

  private func ask(_ code: OAuth2DeviceCode) async throws -> Result {
    do {
      let grant: Query = [
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code.deviceCode,
      ]
      return .done(try await endpoint.exchange(at: code.tokenEndpoint, using: client) { grant })
    } catch let error as NetworkError {
      if let answer = DevicePoll.Answer(error) { return .wait(answer) }
      throw NetworkError.ofStep("the device code", error)
    }
  }
}
