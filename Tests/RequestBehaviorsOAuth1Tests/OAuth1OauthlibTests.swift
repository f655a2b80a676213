import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import TestSupport
import Testing

#if os(Linux) || os(macOS)
  /// A service that others wrote.
  @Suite(
    .limited,
    .enabled("Python 3 with oauthlib is not installed (pip install oauthlib)") {
      try await OAuthlibServer.isAvailable()
    })
  struct OAuth1OauthlibTests {
    @Test(arguments: [OAuth1SignatureMethod.hmacSHA1, .hmacSHA256])
    func `oauthlib accepts the client's signatures`(method: OAuth1SignatureMethod) async throws {
      let server = try await OAuthlibServer()
      let client = NetworkClient(baseURL: server.baseURL, behaviors: [.oauth1(.sample(method))])
      let requests: [Request<String>] = [
        .get("plain"), .get("a b/\u{e9}", query: ["q": "1+2 3&4=5", "empty": "", "e": "\u{e9}", "list": ["b", "a"]]),
        .post("form", body: .form(["status": "Hello + \"world\" \u{1F600}", "x": ["1", "0"]]), query: ["x": "2"]),
        .put("put", body: .form(["a": "~-._*'()!"])), .post("json", body: .json(["a": "b"])), .post("none"),
        .delete("delete"),
      ]
      for request in requests { #expect(try await client.send(request) == "fine") }
    }

    @Test func `oauthlib refuses another secret`() async throws {
      let server = try await OAuthlibServer()
      let session = OAuth1Session.sample()
      session.signIn(OAuth1Credentials(token: "tk", secret: "other"))
      let client = NetworkClient(baseURL: server.baseURL, behaviors: [.oauth1(session)])
      let error = await #expect(throws: NetworkError.self) { _ = try await client.send(Request<String>.get("p")) }
      #expect(error?.statusCode == 401)
    }

    @Test func `a whole sign-in works with oauthlib's endpoints`() async throws {
      let server = try await OAuthlibServer()
      let session = OAuth1Session(consumer: OAuth1Consumer(key: "ck", secret: "cs-canary"))
      let client = NetworkClient(baseURL: server.baseURL, behaviors: [.oauth1(session)])
      let flow = OAuth1Flow(
        session: session,
        endpoints: OAuth1Flow.Endpoints(
          requestToken: server.baseURL.appending(path: "request_token"),
          authorize: server.baseURL.appending(path: "authorize"),
          accessToken: server.baseURL.appending(path: "access_token")),
        callback: URL(string: "http://app.example/back?x=1"), over: client)
      try await flow.signIn { url in
        let page = Request<NetworkResponse>.get(url: url).with(\.redirects, .none).with(\.authentication, .none)
          .with(\.acceptableStatuses, StatusCodes(302...302))
        return try #require(URL(string: try await client.send(page).headers["Location"] ?? ""))
      }
      #expect(try await client.send(Request<String>.get("me")) == "fine")
    }
  }
#endif
