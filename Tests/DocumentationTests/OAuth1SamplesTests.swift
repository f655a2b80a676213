import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import Testing

/// The samples of "Signing with OAuth 1.0a" and "Why is my signature refused?", compiled and run.
@Suite(.limited) struct OAuth1SamplesTests {
  private struct Status: Codable, Equatable, Sendable { var id: Int }
  private let mock = MockTransport()
  private var baseURL: URL { mock.baseURL }
  private let consumerKey = "ck"
  private let consumerSecret = "cs"
  private let token = "tk"
  private let tokenSecret = "ts"
  private let consumer = OAuth1Consumer(key: "ck", secret: "cs")

  @Test func `a session signs and signs out`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"id": 1}"#) }
    let baseURL = server.baseURL
    let session = OAuth1Session(
      consumer: OAuth1Consumer(key: consumerKey, secret: consumerSecret),
      credentials: OAuth1Credentials(token: token, secret: tokenSecret))
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.oauth1(session)])

    let status: Status = try await client.send(
      .post("statuses", body: .form(["status": "Hello"])))
    session.signOut()

    #expect(status == Status(id: 1))
    #expect(session.credentials == nil)
    let received = try #require(server.requests.first)
    #expect(received.headers["Authorization"]?.hasPrefix("OAuth ") == true)
    #expect(received.text == "status=Hello")
  }

  @Test func `services differ in method and options`() throws {
    struct KeyStore: Sendable { func sign(_ octets: Data) throws -> Data { octets } }
    let keyStore = KeyStore()
    let session = OAuth1Session(
      consumer: OAuth1Consumer(key: consumerKey),
      credentials: OAuth1Credentials(token: token),
      signatureMethod: .rsaSHA1 { baseString in
        try keyStore.sign(baseString)
      })
    #expect(session.signatureMethod.name == "RSA-SHA1")

    var options = OAuth1Options()
    options.realm = "https://api.example.com/"
    options.includesBodyHash = true
    #expect(options != OAuth1Options())
  }

  @Test func `an app signs without a token`() async throws {
    mock.on().respond(200)
    let session = OAuth1Session(
      consumer: consumer, credentials: OAuth1Credentials.none)
    try await NetworkClient(baseURL: baseURL, behaviors: [.oauth1(session)], transport: mock).send(.get("x"))
    let field = try #require(mock.sent.first?.headers["Authorization"])
    #expect(field.contains("oauth_consumer_key"))
    #expect(!field.contains("oauth_token"))
  }

  @Test func `an account has a name`() throws {
    let (userID, stored) = ("7", OAuth1Credentials(token: token, secret: tokenSecret))
    let session = OAuth1Session(consumer: consumer)
    try session.signIn(stored, as: userID)
    #expect(session.credentials == stored)
  }

  @Test func `a clock is corrected over http if the service is trusted`() async throws {
    let refusal = Data("oauth_problem=timestamp_refused".utf8)
    mock.on().respond(401, headers: ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"], body: refusal).respond(200)
    let credentials = OAuth1Credentials(token: token, secret: tokenSecret)
    let session = OAuth1Session(
      consumer: consumer, credentials: credentials,
      trustsClockOverHTTP: true)
    let baseURL = try #require(URL(string: "http://intranet.example.com"))
    try await NetworkClient(baseURL: baseURL, behaviors: [.oauth1(session)], transport: mock).send(.get("x"))
    #expect(mock.sent.last?.headers["Authorization"]?.contains(#"oauth_timestamp="784111777""#) == true)
  }

  @Test func `a user signs in at once or in steps`() async throws {
    struct Browser {
      func open(_ url: URL) async throws -> URL {
        try #require(URL(string: "myapp://signed-in?oauth_token=rt&oauth_verifier=v"))
      }
    }
    let browser = Browser()
    let journal = Journal()
    func store(_ credentials: OAuth1Credentials) throws { journal.note(credentials.token ?? "no token") }
    mock.on(.post, "oauth/request_token")
      .respond(text: "oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=true")
    mock.on(.post, "oauth/access_token").respond(text: "oauth_token=at&oauth_token_secret=as&screen_name=ada")
    let session = OAuth1Session(consumer: consumer)
    let client = NetworkClient(baseURL: baseURL, behaviors: [.oauth1(session)], transport: mock)

    let flow = OAuth1Flow(
      session: session,
      endpoints: OAuth1Flow.Endpoints(
        requestToken: baseURL.appending(path: "oauth/request_token"),
        authorize: baseURL.appending(path: "oauth/authorize"),
        accessToken: baseURL.appending(path: "oauth/access_token")),
      callback: URL(string: "myapp://signed-in"), over: client)

    let access = try await flow.signIn { url in
      // Shows the page and returns the URL of the callback.
      try await browser.open(url)
    }
    try store(access.credentials)
    let name = access["screen_name"]  // sent along by the service
    #expect(name == "ada")
    #expect(journal.entries == ["at"])

    session.signOut()
    let callbackURL = try await browser.open(baseURL)
    let requestToken = try await flow.begin()
    let stored = try JSONEncoder().encode(requestToken)
    let page = try flow.authorizeURL(for: requestToken)
    // … the app is started again by the callback …
    let token = try JSONDecoder().decode(
      OAuth1RequestToken.self, from: stored)
    try await flow.finish(token, callback: callbackURL)
    #expect(page.absoluteString.hasSuffix("oauth/authorize?oauth_token=rt"))
    #expect(session.credentials?.token == "at")
  }

  @Test func `the steps of RFC 5849 §3·1 are as the article shows them`() throws {
    var options = OAuth1Options()
    options.includesVersion = false  // as in the RFC
    let query = "b5=%3D%253D&a3=a&c%40=&a2=r%20b"
    let signature = try OAuth1Signature(
      method: .post,
      url: URL(string: "http://example.com/request?\(query)")!,
      headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Data("c2&a3=2+q".utf8),
      parameters: OAuth1ProtocolParameters(
        consumerKey: "9djdj82h48djs9d2", token: "kkk9d7dh3k39sjv7",
        nonce: "7d8f3e4a", timestamp: 137_131_201),
      key: OAuth1SigningKey(
        method: .hmacSHA1, consumerSecret: "j49sk3j29djd",
        tokenSecret: "dh893hdasih9"),
      options: options)
    #expect(signature.baseStringURI == "http://example.com/request")
    #expect(signature.signingKey == "j49sk3j29djd&dh893hdasih9")
    #expect(signature.signature == "r6/TJjbCOr97/+UU0NsvSne7s5g=")
  }

  @Test func `a refused request is explained as the article shows it`() async throws {
    mock.on().respond(401, text: "oauth_problem=signature_invalid")
    let session = OAuth1Session(
      consumer: OAuth1Consumer(key: consumerKey, secret: consumerSecret + "\n"),
      credentials: OAuth1Credentials(token: token, secret: tokenSecret))
    let client = NetworkClient(baseURL: baseURL, behaviors: [.oauth1(session)], transport: mock)
    do {
      try await client.send(.get("statuses"))
    } catch {
      print(session.explain(error))
    }
    let error = try #require(await #expect(throws: NetworkError.self) { try await client.send(.get("statuses")) })
    #expect(
      "\(session.explain(error))".hasPrefix(
        """
        - The service answered 401: oauth_problem=signature_invalid.
        - The consumer secret begins or ends with a line break: was it copied with it?
        Collected parameters: query, form body, protocol (RFC 5849 §3.4.1.3.1)

        """))
  }

  @Test func `a request has an additional protocol parameter`() async throws {
    mock.on().respond(text: "ok")
    let handle = "h"
    let session = OAuth1Session(consumer: consumer, credentials: OAuth1Credentials.none)
    let client = NetworkClient(baseURL: baseURL, behaviors: [.oauth1(session)], transport: mock)
    let answer: String = try await client.send(
      .post("verify")
        .with(\.oauth1Parameters, ["oauth_session_handle": handle]))
    #expect(answer == "ok")
    #expect(mock.sent.first?.headers["Authorization"]?.contains(#"oauth_session_handle="h""#) == true)
  }

  @Test func `a difference reads as the article shows it`() throws {
    let url = try #require(URL(string: "https://api.example.com/search?q=a+b"))
    let (nonce, timestamp) = ("n", 1_700_000_000)
    let key = OAuth1SigningKey(
      method: .hmacSHA1, consumerSecret: consumerSecret,
      tokenSecret: tokenSecret)
    let signature = try OAuth1Signature(
      method: .get, url: url,
      parameters: OAuth1ProtocolParameters(
        consumerKey: consumerKey, token: token,
        nonce: nonce, timestamp: timestamp),
      key: key)
    print(signature.explanation())
    #expect(signature.explanation().contains(signature.baseString))
    let theirBaseString = signature.baseString.replacingOccurrences(of: "a%2520b", with: "a%252Bb")
    if let difference = signature.difference(from: theirBaseString) {
      print(difference)
    }
    let difference = try #require(signature.difference(from: theirBaseString))
    #expect(
      "\(difference)" == """
        The base strings differ from octet 205 on, in the parameters.
          signed:  q=a%20b
          service: q=a%2Bb
        A + and a space are taken for each other: in a query or form, + is a space and %2B is a plus (§3.4.1.3.1).
        """)
  }
}
