import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct ClientPrerequisitesTests {
  @Test func `prerequisites have no credentials, but the fields of all requests`() async throws {
    let mock = MockTransport()
    mock.on(.get, "keys").respond(200)
    let session = TokenSession(source: .closure { _ in AccessToken("secret") })
    let client = NetworkClient(
      baseURL: mock.baseURL, behaviors: [.tokenAuth(session), .acceptLanguage()], transport: mock)
    try await client.prerequisites.send(.get("keys"))
    #expect(mock.sent[0].headers["Authorization"] == nil)
    #expect(mock.sent[0].headers["Accept-Language"] != nil)
  }

  @Test func `prerequisites of a required session do not need credentials`() async throws {
    let mock = MockTransport()
    mock.on(.get, "keys").respond(200)
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn() })
    var configuration = RequestConfiguration(baseURL: mock.baseURL, behaviors: [.tokenAuth(session)])
    configuration.options.authentication = .required
    let client = NetworkClient(configuration: configuration, transport: mock)
    try await client.prerequisites.send(.get("keys"))
    #expect(mock.sent.count == 1)
  }

  @Test func `a shutdown of the client ends its prerequisites`() async throws {
    let client = NetworkClient(baseURL: MockTransport().baseURL, transport: MockTransport())
    let prerequisites = client.prerequisites
    await client.shutdown()
    let error = await #expect(throws: NetworkError.self) { try await prerequisites.send(.get("keys")) }
    #expect(error?.code == .clientShutDown)
  }
}
