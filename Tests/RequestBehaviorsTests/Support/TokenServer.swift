import Foundation
import RequestBehaviors
import TestSupport

/// A server that gives tokens `t1`, `t2`, … at `token` and accepts the newest one everywhere else.
final class TokenServer: Sendable {
  struct State {
    /// The responses of `token` before it gives tokens again.
    var refusals: [@Sendable (NetworkRequest) -> NetworkResponse] = []
    var issued = 0
    var valid: String?
    /// The lifetime in the response.
    var lifetime = 3_600
    /// The responses of the API whatever the token is.
    var answer: (@Sendable (NetworkRequest) -> NetworkResponse)?
  }

  let state = Box(State())
  /// Holds the responses of `token`; open unless a test replaces it.
  let tokenGate = Box<TestGate?>(nil)
  /// Counts the responses of `token`.
  let given = TestGate()
  /// Holds refusals.
  let refusalGate = Box<TestGate?>(nil)

  var transport: ClosureTransport { stored }
  private let stored: ClosureTransport

  init() {
    let state = state
    let (tokenGate, refusalGate, given) = (tokenGate, refusalGate, given)
    stored = ClosureTransport { request in
      if request.url.path().hasSuffix("/token") {
        await tokenGate.value?.pass()
        defer { given.arrive() }
        return state.update { TokenServer.giveToken(&$0, request) }
      }
      let response = state.update { TokenServer.serve(&$0, request) }
      if response.statusCode == 401 { await refusalGate.value?.pass() }
      return response
    }
  }

  var tokenRequests: [NetworkRequest] { transport.sent.filter { $0.url.path().hasSuffix("/token") } }
  var apiRequests: [NetworkRequest] { transport.sent.filter { !$0.url.path().hasSuffix("/token") } }

  /// Makes the server forget the token that it gave.
  func revoke() { state.update { $0.valid = nil } }

  /// Makes the next answer of `token` another one.
  func refuseToken(_ statusCode: Int, _ body: String = "", isVerified: Bool = true) {
    state.update {
      $0.refusals.append { request in
        NetworkResponse(
          request: request, statusCode: statusCode, headers: ["Content-Type": "application/json"],
          body: .data(Data(body.utf8)), isVerified: isVerified)
      }
    }
  }

  private static func giveToken(_ state: inout State, _ request: NetworkRequest) -> NetworkResponse {
    if !state.refusals.isEmpty { return state.refusals.removeFirst()(request) }
    state.issued += 1
    state.valid = "t\(state.issued)"
    return json(
      request,
      #"{"access_token":"t\#(state.issued)","token_type":"bearer","expires_in":\#(state.lifetime),"refresh_token":"r\#(state.issued)"}"#
    )
  }

  private static func serve(_ state: inout State, _ request: NetworkRequest) -> NetworkResponse {
    if let answer = state.answer { return answer(request) }
    let isValid = state.valid.map { request.headers["Authorization"] == "Bearer \($0)" } ?? false
    return NetworkResponse(request: request, statusCode: isValid ? 200 : 401)
  }

  static func json(_ request: NetworkRequest, _ body: String, status: Int = 200) -> NetworkResponse {
    NetworkResponse(
      request: request, statusCode: status, headers: ["Content-Type": "application/json"],
      body: .data(Data(body.utf8)))
  }
}

extension TokenEndpoint {
  /// The endpoint of a ``TokenServer``.
  static let test = TokenEndpoint("token", clientID: "app", clientSecret: "app-secret")
}
