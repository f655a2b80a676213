import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// A call keeps the user that it began with, and no signature leaves after its user's sign-out.
@Suite(.limited) struct OAuth1UserTests {
  private let session = OAuth1Session.sample()
  private let other = OAuth1Credentials(token: "other", secret: "secret")

  private func send(_ order: BehaviorOrder, _ action: @escaping @Sendable (OAuth1Session) -> Void) async -> (
    NetworkError?, sent: Int
  ) {
    let transport = ClosureTransport()
    let acting = ClosureBehavior("acting", order: order) { [session] request, next in
      action(session)
      return try await next(request)
    }
    let client = NetworkClient(transport, [.oauth1(session), acting])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.post("pay")) }
    return (error, transport.sent.count)
  }

  @Test(arguments: [BehaviorOrder.gate, .last])
  func `a call fails when another user signs in while it is under way`(order: BehaviorOrder) async {
    let (error, sent) = await send(order) { [other] in $0.signIn(other) }
    #expect(error?.code == .signedOut)
    #expect(sent == 0)
  }

  @Test func `a signed request fails when its user signs out before it is sent`() async {
    let (error, sent) = await send(.last) { $0.signOut() }
    #expect(error?.code == .signedOut)
    #expect(sent == 0)
  }

  @Test func `the next call is the new user's`() async throws {
    let transport = ClosureTransport()
    let client = NetworkClient(transport, [.oauth1(session)])
    try await client.send(.get("a"))
    session.signIn(other)
    try await client.send(.get("b"))
    #expect(transport.sent.last?.headers["Authorization"]?.contains("oauth_token=\"other\"") == true)
  }
}
