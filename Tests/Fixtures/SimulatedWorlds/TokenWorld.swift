import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
public import RequestBehaviorsTesting

/// An authorization server that rotates refresh tokens, and the API that takes its access tokens.
final class TokenServer: @unchecked Sendable {
  // Unchecked, because only the simulation's thread uses it.

  /// The tokens of one sign-in: each refresh spends the refresh token and gives two new ones.
  struct Family {
    let user: String
    var generation = 0
  }

  private(set) var families: [Int: Family] = [:]
  /// The rules that a client broke.
  private(set) var violations: [String] = []
  /// The generations of each family that the API has refused because they expired.
  private var refusedAt: [String: Duration] = [:]
  private let clock: RequestClock
  private var issuedAt: [String: Duration] = [:]
  private let lifetime: Duration
  private let delay: () -> Duration

  init(clock: RequestClock, lifetime: Duration, delay: @escaping () -> Duration) {
    (self.clock, self.lifetime, self.delay) = (clock, lifetime, delay)
  }

  /// Returns the token of a user who signs in.
  func signIn(_ user: String) -> AccessToken {
    let family = families.count + 1
    families[family] = Family(user: user)
    return token(of: family)
  }

  /// The user of an access token; `nil` for a text that no sign-in gave out.
  func user(of accessToken: String) -> String? { family(of: accessToken).flatMap { families[$0]?.user } }

  /// Returns the family in a token such as "a-3-7".
  func family(of token: String) -> Int? {
    let parts = token.split(separator: "-")
    return parts.count == 3 ? Int(parts[1]) : nil
  }

  private func token(of family: Int) -> AccessToken {
    let generation = families[family]?.generation ?? 0
    issuedAt["a-\(family)-\(generation)"] = clock.now()
    return AccessToken("a-\(family)-\(generation)", lifetime: lifetime, refreshToken: "r-\(family)-\(generation)")
  }

  /// The token endpoint.
  func refresh(_ request: NetworkRequest) -> SimulatedResponse {
    let form = (try? request.text) ?? ""
    guard let spent = form.split(separator: "&").first(where: { $0.hasPrefix("refresh_token=") })?.dropFirst(14),
      let family = family(of: String(spent)), let generation = spent.split(separator: "-").last.flatMap({ Int($0) })
    else { return .json(#"{"error":"invalid_request"}"#, status: 400) }
    guard families[family]?.generation == generation else {
      violations.append("the refresh token \(spent) was sent again after it was spent")
      return .json(#"{"error":"invalid_grant"}"#, status: 400)
    }
    let current = "a-\(family)-\(generation)"
    if refusedAt[current] == nil, let issued = issuedAt[current], clock.now() - issued < lifetime * 9 / 10 {
      violations.append("\(current) was refreshed after \(clock.now() - issued), and was still good")
    }
    families[family]?.generation += 1
    let new = token(of: family)
    return .json(
      #"{"access_token":"\#(new.value)","token_type":"Bearer","refresh_token":"\#(new.refreshToken ?? "")","expires_in":\#(lifetime.components.seconds)}"#
    ).after(delay())
  }

  /// The API: tells a user's name to a valid token of the user.
  func api(_ request: NetworkRequest) -> SimulatedResponse {
    guard let token = request.headers["Authorization"]?.dropFirst(7), let user = user(of: String(token)),
      let issued = issuedAt[String(token)]
    else {
      return .status(401, headers: ["WWW-Authenticate": "Bearer"])
    }
    // A client may have sent a token before it learned that the token is refused.
    if let refused = refusedAt[String(token)], clock.now() - refused > .seconds(90) {
      violations.append("the token \(token) was sent \(clock.now() - refused) after it was refused")
    }
    let isCurrent = families[family(of: String(token)) ?? 0].map {
      "a-\(family(of: String(token)) ?? 0)-\($0.generation)"
    }
    guard clock.now() - issued < lifetime, isCurrent == String(token) || clock.now() - issued < .seconds(30) else {
      refusedAt[String(token)] = refusedAt[String(token)] ?? clock.now()
      return .status(401, headers: ["WWW-Authenticate": #"Bearer error="invalid_token""#])
    }
    let path = request.url.path()
    guard path == "/me" || path.contains(user) else { return .status(403) }
    return .json(
      #"{"user":"\#(user)","path":"\#(path)"}"#,
      headers: ["Cache-Control": "private, max-age=30"])
  }
}

extension SimulatedWorld {
  /// Two users on one session, one after the other, and a third with a session of her own.
  public func buildTokens() {
    let state = UserState()
    let isSlow = includes("slow token endpoint", chance: 0.3)
    let server = TokenServer(clock: clock, lifetime: .seconds(60)) { [unowned self] in
      // Longer than sessions wait, and shorter than they give a request.
      if isSlow, !state.isOver, chance(0.3, "slow token") { return .seconds(number(in: 5..<55, "token delay")) }
      return .milliseconds(number(in: 0..<3_000, "token delay"))
    }
    let hasFirewall = includes("firewall", chance: 0.3)
    let troubles: SimulatedNetwork.Troubles = [.refused, .lostBefore, .tooManyRequests, .portal]
    network.serve("auth.example", troubles: troubles) { [unowned self] request in
      // A page in the endpoint's place, which says nothing of the token.
      if hasFirewall, !state.isOver, chance(0.3, "firewall") {
        let status = [401, 403, 503][number(in: 0..<3, "firewall's status")]
        return .status(status, headers: ["Content-Type": "text/html"], text: "<html>blocked</html>")
      }
      return server.refresh(request)
    }
    network.serve("api.example") { server.api($0) }
    network.troubles = [.refused, .lostBefore, .lostAfter, .slow, .serverError, .repeated]
    span = .seconds(150)
    let source = RefreshTokenGrant(TokenEndpoint(url: URL(string: "https://auth.example/token")!, clientID: "app"))
    let store = InMemoryTokenStore()
    let session = TokenSession(name: "shared", source: source, store: store, clock: clock)
    let other = TokenSession(name: "other", source: source, clock: clock)
    // The API lets a response be kept for 30 seconds. One cache serves two users, one after the other.
    let cacheStore = MemoryCacheStore()
    let caches: [any RequestBehavior] = includes("cache") ? [.caching(cacheStore)] : []
    let clients = (0..<(includes("second client") ? 2 : 1)).map { _ in
      client(
        baseURL: URL(string: "https://api.example")!,
        behaviors: commonBehaviors() + [.tokenAuth(session)] + caches + userBehaviors() + state.ownerProbes)
    }
    // Another object on the same store, as an app's extension has one.
    let twin =
      includes("second session") ? TokenSession(name: "shared", source: source, store: store, clock: clock) : nil
    network.onSend = { [unowned self] request in
      guard let value = request.headers["Authorization"]?.dropFirst(7), let family = server.family(of: String(value))
      else { return }
      // The network gets a request some jobs after it was handed over, but at the same time.
      if let end = state.ended[family], clock.now() > end {
        state.problems.append("\(value) left after its user had signed out, at \(clock.now())")
      }
    }
    let first: @Sendable () async throws -> Void = {
      let token = server.signIn("anna")
      state.family = server.families.count
      try await session.signIn(token, as: "anna")
      state.signedIn = "anna"
      try await other.signIn(server.signIn("carl"), as: "carl")
      state.isReady = true
    }
    action("anna signs in", at: .after(.zero)) { try await first() }
    for number in 0..<5 {
      let client = clients[self.number(in: 0..<clients.count, "client of call \(number)")]
      call("call \(number)", mayBeCancelled: true) {
        guard state.isReady, let user = state.signedIn else { return }
        let (owner, changes) = (OwnerMoment(), state.changes)
        do {
          let text: String = try await OwnerMoment.$current.withValue(owner) {
            try await client.send(.get("\(user)/\(number)"))
          }
          if !text.contains(user) { state.problems.append("\(user) got \(text)") }
        } catch let error as NetworkError where error.response?.statusCode == 403 {
          // At the very moment of the change a call may begin as either user's.
          if owner.wasAsked(at: changes) { state.problems.append("a call of \(user) had another's token") }
          throw error
        } catch {
          state.check(error, user, changes)
          throw error
        }
      }
      // One URL for all users: only the owner tells whose response it is.
      call("me \(number)", mayBeCancelled: true) {
        guard state.isReady, let user = state.signedIn else { return }
        let (owner, changes) = (OwnerMoment(), state.changes)
        do {
          let text: String = try await OwnerMoment.$current.withValue(owner) { try await client.send(.get("me")) }
          if !text.contains(user), owner.wasAsked(at: changes) { state.problems.append("\(user) got \(text)") }
        } catch {
          state.check(error, user, changes)
          throw error
        }
      }
      call("call of carl \(number)", mayBeCancelled: true) {
        guard state.isReady else { return }
        let text: String = try await client.send(Request<String>.get("carl/\(number)").with(.tokenAuth(other)))
        if !text.contains("carl") { state.problems.append("carl got \(text)") }
      }
    }
    if let twin {
      let client = client(baseURL: URL(string: "https://api.example")!, behaviors: [.tokenAuth(twin), .retry()])
      call("call of the twin") {
        guard state.isReady, let user = state.signedIn else { return }
        let text: String = try await client.send(.get("\(user)/twin"))
        if !text.contains(user) { state.problems.append("\(user) got \(text)") }
      }
    }
    if includes("another user") {
      action("bob signs in", at: .any) { [unowned self] in
        guard state.isReady else { return }
        state.signedIn = nil
        state.changedAt = clock.now()
        state.changes += 1
        let former = state.family
        try await session.signOut()
        state.ended[former] = clock.now()
        log("anna has signed out")
        // A sign-out is final, whatever was under way.
        try await clock.sleep(for: .milliseconds(number(in: 0..<3_000, "time between two users")))
        if try await session.isSignedIn() { state.problems.append("anna is signed in after her sign-out") }
        let token = server.signIn("bob")
        state.family = server.families.count
        try await session.signIn(token, as: "bob")
        state.signedIn = "bob"
      }
    }
    lastly("the user can still work") { [unowned self] in
      state.isOver = true
      if !state.isReady { try await first() }
      // What a cache holds of a user ends with the sign-out.
      for entry in await cacheStore.entries(limit: 1_000) where !state.ended.isEmpty {
        guard let stored = await cacheStore.response(for: entry.key, matching: [:]) else { continue }
        if String(decoding: stored.body, as: UTF8.self).contains("anna") {
          state.problems.append("\(entry.key.url) of anna is in the cache after the sign-out")
        }
      }
      try await clock.sleep(for: .seconds(300))
      let user = state.signedIn ?? "anna"
      let text: String = try await clients[0].send(
        Request<String>.get("\(user)/last").with(\.deadline, .seconds(3_600)))
      if !text.contains(user) { state.problems.append("\(user) got \(text)") }
    }
    check("no client breaks a rule of the token server") {
      if let violation = server.violations.first { throw BrokenRule(violation) }
      return true
    }
    check("each user gets responses of their own") {
      if let problem = state.problems.first { throw BrokenRule(problem) }
      return true
    }
  }
}

/// The users of a token world.
///
/// All of it is used on the simulation's thread.
private final class UserState: @unchecked Sendable {
  var signedIn: String?
  var isReady = false
  var family = 0
  var changedAt: Duration?
  /// When the users of families had signed out.
  var ended: [Int: Duration] = [:]
  var problems: [String] = []
  /// How many sign-outs have begun.
  var changes = 0
  var isOver = false

  /// The first and the last behavior that is asked for the owner of a call.
  var ownerProbes: [any RequestBehavior] {
    [BehaviorOrder.first, .last].map { order in
      ClosureBehavior(
        "OwnerProbe", order: order,
        scope: { [self] _ in
          OwnerMoment.current?.changes.append(changes)
          return nil
        })
    }
  }

  /// Notes an error that a user cannot get who was signed in all the time.
  func check(_ error: any Error, _ user: String, _ changesBefore: Int) {
    guard let error = error as? NetworkError, error.code == .signedOut, changes == changesBefore else { return }
    problems.append("\(user) is signed in and got \(error)")
  }
}

/// How many sign-outs had begun when behaviors were asked for the owner of a call.
///
/// All of it is used on the simulation's thread.
private final class OwnerMoment: @unchecked Sendable {
  @TaskLocal static var current: OwnerMoment?
  var changes: [Int] = []

  /// Whether all of them were asked when so many sign-outs had begun.
  func wasAsked(at count: Int) -> Bool { !changes.isEmpty && changes.allSatisfy { $0 == count } }
}

/// A rule that does not hold, with the case.
public struct BrokenRule: Error, CustomStringConvertible {
  /// The rule and the case.
  public let description: String
  init(_ description: String) { self.description = description }
}
