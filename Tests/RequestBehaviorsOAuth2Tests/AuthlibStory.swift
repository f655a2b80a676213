import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import TestSupport
import Testing

#if os(Linux) || os(macOS)
  /// One user after the other at one client, with faults at the server's endpoints: the same for the same seed.
  struct AuthlibStory {
    struct Counts {
      var signIns = 0
      var failedSignIns = 0
      var responses = 0
      var failedRequests = 0
      var revocations = 0
      var failedRevocations = 0
      var faults = 0

      static func += (sum: inout Counts, other: Counts) {
        sum.signIns += other.signIns
        sum.failedSignIns += other.failedSignIns
        sum.responses += other.responses
        sum.failedRequests += other.failedRequests
        sum.revocations += other.revocations
        sum.failedRevocations += other.failedRevocations
        sum.faults += other.faults
      }
    }

    private(set) var counts = Counts()
    private let seed: UInt64
    private let parts: AuthlibParts
    private var random: SeededGenerator
    private let faults: FaultBehavior
    private let endpoint: TokenEndpoint
    private let session: TokenSession
    private let store = InMemoryTokenStore()
    /// The client without tokens, for the steps of sign-ins and revocations.
    private let bare: NetworkClient
    private let client: NetworkClient
    /// The user who is signed in, as the results so far say.
    private var user: String?

    init(seed: UInt64, _ parts: AuthlibParts, key: SigningKey, proofKey: SigningKey) throws {
      (self.seed, self.parts, random) = (seed, parts, SeededGenerator(seed: seed))
      let clientID = ["public", "public", "ba:sic", "post", "hmac", "jwt"].randomElement(using: &random) ?? "public"
      let dpop = Int.random(in: 0..<4, using: &random) == 0 ? try DPoPKey(proofKey) : nil
      endpoint = TokenEndpoint(
        parts.server, clientID: clientID, authentication: AuthlibParts.authentication(clientID, key: key), dpop: dpop)
      session = TokenSession(
        source: .refreshToken(endpoint), store: store, policy: TokenRefreshPolicy(limit: 10_000), clock: .system)
      faults = FaultBehavior(seed: seed)
      let isRetrying = Bool.random(using: &random)
      bare = parts.client.with { [faults] in
        $0.clock = .immediate
        $0.behaviors.append(faults)
        if isRetrying { $0.behaviors.append(.retry()) }
      }
      client = parts.client.with { [session, faults] in
        $0.behaviors += [faults, .tokenAuth(session)]
        if let dpop { $0.behaviors.append(.dpop(dpop)) }
      }
    }

    mutating func run() async throws {
      try await signIn()
      for _ in 1...2 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: try await signIn()
        case 1: try await signOut()
        case 2, 3:
          try await parts.expire()
          try await request()
        default: try await request()
        }
        #expect(try await session.isSignedIn() == (user != nil), "story \(seed)")
      }
      try await signOut()
      counts.faults = faults.count
    }

    /// Signs a user in, or lets the user refuse.
    private mutating func signIn() async throws {
      let word = ["anna", "ben", "carla", "dora", "emil", "nobody"].randomElement(using: &random) ?? "anna"
      let name = word == "nobody" ? word : word + parts.group
      let (isDevice, asks) = (Int.random(in: 0..<3, using: &random) == 0, Bool.random(using: &random))
      let before = faults.count
      do {
        let grant = try await isDevice ? device(name) : browser(name, asks: asks)
        #expect(name != "nobody", "story \(seed)")
        #expect(grant.scopes == ["read"], "story \(seed)")
        user = name
        counts.signIns += 1
      } catch let error as NetworkError {
        counts.failedSignIns += 1
        // Without a fault only the user ends a sign-in.
        if faults.count == before {
          #expect(error.code == .oauth2Denied, "story \(seed): \(error)")
          #expect(name == "nobody", "story \(seed)")
        }
      }
      #expect(try await session.isSignedIn() == (user != nil), "story \(seed)")
    }

    private func browser(_ name: String, asks: Bool) async throws -> OAuth2Grant {
      let flow = parts.flow(session, endpoint, over: bare)
      guard asks else { return try await flow.signIn(["login_hint": name]) { try await parts.browse($0) } }
      return try await flow.signIn(["login_hint": name]) {
        try await parts.browse($0)
      } naming: { grant in
        // Bound tokens need a proof, which this request does not have.
        guard grant.token.type == "Bearer" else { return name }
        let found: String = try await bare.prerequisites.send(.get("me").with(.bearer(grant.token.value)))
        #expect(found == name, "story \(seed)")
        return found
      }
    }

    private func device(_ name: String) async throws -> OAuth2Grant {
      let flow = OAuth2DeviceFlow(session: session, endpoint: endpoint, scopes: ["read"], over: bare)
      return try await flow.signIn(as: name) { try await parts.decide($0, as: name) }
    }

    /// Sends some requests at once; each has the name of the user in its response, or fails.
    private mutating func request() async throws {
      let before = faults.count
      let number = Int.random(in: 1...2, using: &random)
      let results = await withTaskGroup(of: Result<String, any Error>.self) { [client] group in
        for _ in 0..<number {
          group.addTask {
            do { return .success(try await client.send(.get("me"))) } catch { return .failure(error) }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      for result in results {
        switch result {
        case .success(let found):
          counts.responses += 1
          #expect(found == user, "story \(seed)")
        case .failure(let error):
          let code = (error as? NetworkError)?.code
          if user == nil {
            #expect(code == .notSignedIn, "story \(seed)")
          } else {
            counts.failedRequests += 1
            #expect(code != .notSignedIn, "story \(seed)")
            #expect(code != .signedOut, "story \(seed)")
            #expect(faults.count > before, "story \(seed): \(error)")
          }
        }
      }
    }

    /// Signs out with a revocation, which may fail; the user is signed out even then.
    private mutating func signOut() async throws {
      let before = faults.count
      let token = try await store.load()
      do {
        try await session.signOut { [endpoint, bare] in try await endpoint.revoke($0, over: bare) }
        if let token {
          counts.revocations += 1
          #expect(try await parts.isLive(token) == false, "story \(seed)")
        }
      } catch {
        counts.failedRevocations += 1
        #expect(faults.count > before, "story \(seed): \(error)")
      }
      user = nil
      #expect(try await session.isSignedIn() == false, "story \(seed)")
      #expect(try await store.load() == nil, "story \(seed)")
    }
  }

  /// Faults between a client and the server: portals, gateways, and responses that get lost.
  ///
  /// The response to a refresh does not get lost: this server ends the session when a refresh token comes twice, and no
  /// client can avoid that.
  private final class FaultBehavior: RequestBehavior {
    let order = BehaviorOrder.last
    private let state: Locked<(random: SeededGenerator, count: Int)>

    init(seed: UInt64) { state = Locked((SeededGenerator(seed: seed, task: 1), 0)) }

    /// The number of faults so far.
    var count: Int { state.withLock { $0.count } }

    private func draw(_ range: Range<Int>) -> Int {
      state.withLock { state in
        let number = Int.random(in: 0..<48, using: &state.random)
        guard range.contains(number) else { return -1 }
        state.count += 1
        return number
      }
    }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
      switch request.url.path() {
      case "/token":
        let isRefresh = try request.form.items.contains { $0.name == "refresh_token" }
        return try await fault(draw(0..<(isRefresh ? 8 : 9)), request, next)
      case "/device": return try await fault(draw(0..<9), request, next)
      case "/revoke":
        // A client ignores the body of a revocation's response (RFC 7009 §2.2), apart from a page.
        let number = draw(0..<9)
        return try await fault(number == 3 ? 4 : number, request, next)
      case "/me": return try await fault(draw(4..<8), request, next)
      default: return try await next(request)
      }
    }

    private func fault(_ number: Int, _ request: NetworkRequest, _ next: Next) async throws -> NetworkResponse {
      func response(_ status: Int, _ type: String, _ body: String) -> NetworkResponse {
        NetworkResponse(
          request: request, statusCode: status, headers: ["Content-Type": type, "Location": "http://127.0.0.1:1/"],
          body: .data(Data(body.utf8)))
      }
      let page = "<html>Sign in to the network</html>"
      switch number {
      case 0: return response(200, "text/html", page)
      case 1: return response(302, "text/html", page)
      case 2: return response(401, "text/html", page)
      case 3: return response(200, "application/json", #"{"access_token":"#)
      case 4: return response(403, "application/json", #"{"message":"blocked"}"#)
      case 5, 6: return response(503, "text/html", page)
      case 7: throw NetworkError(.cannotConnect, "no network")
      case 8:
        _ = try await next(request).buffered()
        throw NetworkError(.connectionLost, "the response got lost")
      default: return try await next(request)
      }
    }
  }
#endif
