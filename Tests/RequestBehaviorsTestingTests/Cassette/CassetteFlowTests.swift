import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Flows with credentials, recorded from a server that checks them, and played without real credentials.
@Suite(.limited) struct CassetteFlowTests {
  private let bench = CassetteBench()

  private struct Login: TokenSource {
    let password: String

    private struct Grant: Decodable {
      let accessToken: String
      let refreshToken: String
      let expiresIn: Double

      enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
      }
    }

    private func token(_ form: [String: String], _ client: NetworkClient) async throws -> AccessToken {
      let grant: Grant = try await client.send(.post("token", body: .form(Query(encoding: form))))
      return AccessToken(grant.accessToken, lifetime: .seconds(grant.expiresIn), refreshToken: grant.refreshToken)
    }

    func fetch(using client: NetworkClient) async throws -> AccessToken {
      try await token(["grant_type": "password", "password": password], client)
    }

    func refresh(_ old: AccessToken, using client: NetworkClient) async throws -> AccessToken {
      try await token(["grant_type": "refresh_token", "refresh_token": old.refreshToken ?? ""], client)
    }
  }

  /// A server that gives tokens for ten minutes, and checks every credential.
  private final class Server: Sendable {
    private let latest = Locked(0)

    func respond(_ request: LoopbackRequest) -> LoopbackResponse {
      let response = body(request)
      return request.headers["X-API-Nonce"].map { response.header("X-API-Nonce", $0) } ?? response
    }

    private func body(_ request: LoopbackRequest) -> LoopbackResponse {
      let authorization = request.headers["Authorization"] ?? ""
      let number = latest.withLock { $0 }
      switch request.path {
      case "/token":
        let isGranted = request.text.contains(number == 0 ? "password=c4nary-word" : "refresh_token=c4nary-r\(number)")
        guard isGranted else { return .json(#"{"error": "invalid_grant"}"#, status: 400) }
        latest.withLock { $0 += 1 }
        return .json(
          #"{"access_token": "c4nary-a\#(number + 1)-token", "refresh_token": "c4nary-r\#(number + 1)", "expires_in": 600}"#
        )
      case "/signed":
        let isSigned =
          authorization.hasPrefix("OAuth ") && authorization.contains(#"oauth_consumer_key="c4nary-consumer""#)
        return isSigned ? .text("signed for you") : .status(401)
      case _ where authorization != "Bearer c4nary-a\(number)-token": return .status(401)
      case "/old": return LoopbackResponse(status: 302, headers: ["Location": "/me?state=c4nary-state"])
      case "/doc":
        guard request.headers["If-None-Match"] == #""v1""# else {
          return .text("the document").header("ETag", #""v1""#).header("Cache-Control", "max-age=60")
        }
        return .status(304).header("ETag", #""v1""#)
      default: return .json(#"{"said": "\#(authorization)", "token": "\#(number)"}"#)
      }
    }
  }

  private struct Me: Decodable, Equatable {
    let said: String
  }

  private func client(
    _ transport: any Transport, _ baseURL: URL, _ behaviors: [any RequestBehavior], _ clock: ManualClock
  ) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors + [.nonceVerification()])
    configuration.clock = clock.requestClock
    return NetworkClient(configuration: configuration, transport: transport)
  }

  /// Signs in, lets the token expire, follows a redirect, has a response revalidated, and signs by OAuth 1.0a.
  private func use(
    _ transport: any Transport, _ baseURL: URL, _ clock: ManualClock, password: String, consumer: OAuth1Consumer
  ) async throws -> [String] {
    let session = TokenSession(source: Login(password: password), clock: clock.requestClock)
    let tokens = client(
      transport, baseURL, [.tokenAuth(session), .caching(MemoryCacheStore())], clock)
    var seen: [String] = []
    seen.append(try await tokens.send(Request<String>.get("doc")))
    clock.advance(by: .seconds(700))
    let revalidated = try await tokens.send(Request<NetworkResponse>.get("doc"))
    seen.append("\(try revalidated.text), \(revalidated.source)")
    let me: Me = try await tokens.send(.get("old"))
    seen.append(String(me.said.prefix(7)))
    let signer = OAuth1Session(
      consumer: consumer, credentials: OAuth1Credentials(token: "c4nary-token", secret: "c4nary-secret"),
      trustsClockOverHTTP: true)
    seen.append(try await client(transport, baseURL, [.oauth1(signer)], clock).send(Request<String>.get("signed")))
    return seen
  }

  @Test func `expiry, refresh, redirect, 304, nonce and OAuth 1.0a play without real credentials`() async throws {
    let server = Server()
    let loopback = try LoopbackServer { server.respond($0) }
    let recording = try bench.cassette(.recordAll, over: URLSessionTransport())
    let start = Date(timeIntervalSince1970: 1_795_396_495)
    let live = try await use(
      recording, loopback.baseURL, ManualClock(date: start), password: "c4nary-word",
      consumer: OAuth1Consumer(key: "c4nary-consumer", secret: "c4nary-secret"))
    await recording.shutdown()
    loopback.stop()
    #expect(live == ["the document", "the document, revalidated", "Bearer ", "signed for you"])
    let text = try bench.text()
    #expect(!text.contains("c4nary"))
    let playing = try bench.cassette(.replay)
    #expect(abs(playing.recordedAt.timeIntervalSince(start)) < 0.001)
    let played = try await use(
      playing, loopback.baseURL, ManualClock(date: playing.recordedAt), password: "anything",
      consumer: OAuth1Consumer(key: "nobody", secret: "knows"))
    #expect(played == live)
    try playing.verify()
  }
}
