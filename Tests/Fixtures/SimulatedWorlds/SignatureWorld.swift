import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
public import RequestBehaviorsTesting

/// A service that takes requests signed by OAuth 1.0a, and whose clock may differ from the device's.
private final class SignatureServer: @unchecked Sendable {
  // Unchecked, because only the simulation's thread uses it.

  private(set) var violations: [String] = []
  private var nonces: Set<String> = []
  private let clock: RequestClock
  private let skew: TimeInterval

  init(clock: RequestClock, skew: TimeInterval) { (self.clock, self.skew) = (clock, skew) }

  /// The parameters of the `Authorization` field.
  static func parameters(of request: NetworkRequest) -> [String: String] {
    let field = request.headers["Authorization"]?.dropFirst("OAuth ".count) ?? ""
    var parameters: [String: String] = [:]
    for part in field.split(separator: ",") {
      let pair = part.trimmingCharacters(in: .whitespaces).split(separator: "=", maxSplits: 1)
      if pair.count == 2 { parameters[String(pair[0])] = pair[1].trimmingCharacters(in: ["\""]) }
    }
    return parameters
  }

  func respond(_ request: NetworkRequest) -> SimulatedResponse {
    let parameters = SignatureServer.parameters(of: request)
    let now = clock.date().addingTimeInterval(skew)
    let date: HeaderFields = ["Date": HTTPDate.text(of: now)]
    func refusal(_ problem: String) -> SimulatedResponse {
      var headers = date
      headers["WWW-Authenticate"] = "OAuth oauth_problem=\"\(problem)\""
      return .status(401, headers: headers)
    }
    guard let user = parameters["oauth_token"], let nonce = parameters["oauth_nonce"],
      let timestamp = parameters["oauth_timestamp"].flatMap({ TimeInterval($0) })
    else { return refusal("parameter_absent") }
    guard nonces.insert(nonce).inserted else {
      violations.append("a request of \(user) has the nonce of an earlier one")
      return refusal("nonce_used")
    }
    guard abs(timestamp - now.timeIntervalSince1970) < 300 else { return refusal("timestamp_refused") }
    var headers = date
    headers["Cache-Control"] = "private, max-age=30"
    return .json(#"{"user":"\#(user)"}"#, headers: headers)
  }
}

extension SimulatedWorld {
  /// Two users of a service with OAuth 1.0a, one after the other, whose device has a wrong clock.
  public func buildSignatures() {
    let skew = [0, 3_600, -86_400][number(in: 0..<3, "skew")]
    let server = SignatureServer(clock: clock, skew: TimeInterval(skew))
    network.serve("service.example") { server.respond($0) }
    network.troubles = [.refused, .lostBefore, .lostAfter, .slow, .serverError]
    network.troubleRate = 0.3
    span = .seconds(40)
    let session = OAuth1Session(
      consumer: OAuth1Consumer(key: "app", secret: "s"), credentials: OAuth1Credentials(token: "anna", secret: "a"))
    var behaviors = commonBehaviors() + [.oauth1(session)] + userBehaviors()
    if includes("cache") { behaviors.append(.caching(MemoryCacheStore())) }
    if includes("a wait after the signature") {
      behaviors.append(
        ClosureBehavior(
          "Wait", order: .last,
          modify: { [unowned self] _ in
            try await clock.sleep(for: .milliseconds(number(in: 0..<4_000, "wait after the signature")))
          }))
    }
    let client = client(baseURL: URL(string: "https://service.example")!, behaviors: behaviors)
    let isHedged = behaviors.contains { $0 is HedgingBehavior }
    let state = SignatureState()
    network.onSend = { [clock] request in
      let user = SignatureServer.parameters(of: request)["oauth_token"]
      guard let end = state.signedOutAt, user == "anna" else { return }
      // The network gets a request some jobs after the last check.
      if clock.now() - end > .seconds(1) {
        state.problems.append("anna's signature left \(clock.now() - end) after her sign-out")
      }
    }
    for number in 0..<8 {
      call("call \(number)", mayBeCancelled: true) { [clock] in
        guard let user = state.user else { return }
        let begun = clock.now()
        do {
          let text: String = try await client.send(.get("me/\(number % 3)"))
          // At the very moment of the change a call may begin as either user's.
          let isAtChange = state.signedOutAt.map { $0 - begun < .seconds(1) } ?? false
          if !text.contains(user), !isAtChange { state.problems.append("\(user) got \(text)") }
        } catch let error as NetworkError where error.code == .unacceptableStatus && error.statusCode == 401 {
          // Two sends at a time share one correction of the clock, and the other one's refusal may be the outcome.
          if !isHedged { state.problems.append("a call of \(user) was refused: \(error)") }
          throw error
        }
      }
    }
    if includes("another user") {
      action("bob signs in") { [clock] in
        state.user = nil
        session.signOut()
        state.signedOutAt = clock.now()
        session.signIn(OAuth1Credentials(token: "bob", secret: "b"))
        state.user = "bob"
      }
    }
    lastly("the user can still work") { [unowned self] in
      try await clock.sleep(for: .seconds(120))
      let text: String = try await client.send(Request<String>.get("me/last").with(\.deadline, .seconds(3_600)))
      if let user = state.user, !text.contains(user) { state.problems.append("\(user) got \(text)") }
    }
    check("each user is signed for, once a nonce, by the right clock") {
      if let problem = (server.violations + state.problems).first { throw BrokenRule(problem) }
      return true
    }
  }
}

/// All of it is used on the simulation's thread.
private final class SignatureState: @unchecked Sendable {
  var user: String? = "anna"
  var signedOutAt: Duration?
  var problems: [String] = []
}
