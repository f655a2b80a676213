import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import Testing

/// The samples in the reference of OAuth 1.0a that no article has.
@Suite(.limited) struct OAuth1ReferenceTests {
  private struct KeyStore: Sendable { func sign(_ octets: Data) throws -> Data { octets } }

  private let mock = MockTransport()
  private var baseURL: URL { mock.baseURL }
  private let key = "ck"
  private let secret = "cs"
  private let token = "tk"
  private let consumer = OAuth1Consumer(key: "ck", secret: "cs")

  @Test func `a session has credentials and forgets them`() {
    let session = OAuth1Session(
      consumer: consumer,
      credentials: OAuth1Credentials(token: token, secret: secret))
    #expect(session.credentials?.token == "tk")

    let stored = session.credentials
    do {
      let session = OAuth1Session(
        consumer: OAuth1Consumer(key: key, secret: secret),
        credentials: stored)
      let client = NetworkClient(
        baseURL: baseURL, behaviors: [.oauth1(session)])
      session.signOut()
      #expect(session.credentials == nil)
      #expect(client.configuration.behaviors.count == 1)
    }
  }

  @Test func `a session has the name of the account`() throws {
    let profile = (userID: "7", name: "Ada")
    let session = OAuth1Session(consumer: consumer)
    let stored = OAuth1Credentials(token: token, secret: secret)
    try session.signIn(stored, as: profile.userID)
    #expect(session.credentials == stored)
  }

  @Test func `a flow signs in`() async throws {
    struct Browser {
      func open(_ url: URL) async throws -> URL {
        try #require(URL(string: "myapp://signed-in?oauth_token=rt&oauth_verifier=v"))
      }
    }
    mock.on(.post, "request_token")
      .respond(text: "oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=true")
    mock.on(.post, "access_token").respond(text: "oauth_token=at&oauth_token_secret=as")
    let browser = Browser()
    let session = OAuth1Session(consumer: consumer)
    let client = NetworkClient(baseURL: baseURL, behaviors: [.oauth1(session)], transport: mock)
    let endpoints = OAuth1Flow.Endpoints(
      requestToken: baseURL.appending(path: "request_token"), authorize: baseURL.appending(path: "authorize"),
      accessToken: baseURL.appending(path: "access_token"))

    let flow = OAuth1Flow(
      session: session, endpoints: endpoints,
      callback: URL(string: "myapp://signed-in"), over: client)
    let access = try await flow.signIn { url in
      // Shows the page and returns the URL of the callback.
      try await browser.open(url)
    }
    #expect(access.credentials.token == "at")
  }

  @Test func `a key stays in its store`() {
    let keyStore = KeyStore()
    let method = OAuth1SignatureMethod.rsaSHA1 { baseString in
      // RSASSA-PKCS1-v1_5 over SHA-1 of the octets
      try keyStore.sign(baseString)
    }
    #expect(method.name == "RSA-SHA1")
  }

  @Test func `a request carries protocol parameters of its own`() async throws {
    let handle = "h1"
    mock.on().respond()
    let session = OAuth1Session(consumer: consumer, credentials: OAuth1Credentials(token: token, secret: secret))
    let client = NetworkClient(baseURL: baseURL, behaviors: [.oauth1(session)], transport: mock)
    try await client.send(
      .post("access_token")
        .with(\.oauth1Parameters, ["oauth_session_handle": handle]))
    #expect(mock.sent.first?.headers["Authorization"]?.contains(#"oauth_session_handle="h1""#) == true)
  }
}
