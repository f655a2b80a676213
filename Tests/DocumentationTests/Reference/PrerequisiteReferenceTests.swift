import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

private struct KeySet: Decodable { var keys: [String] }

/// The sample in the reference of prerequisites.
@Suite(.limited) struct PrerequisiteReferenceTests {
  @Test func `the prerequisite client sends a request and decodes its response`() async throws {
    let mock = MockTransport()
    mock.on(.get, "keys").respond(200, jsonText: #"{"keys":["k"]}"#)
    let client = NetworkClient(baseURL: mock.baseURL, transport: mock)
    let keysURL = mock.baseURL.appending(path: "keys")
    let keys: KeySet = try await client.prerequisites.send(
      .get(url: keysURL))
    #expect(keys.keys == ["k"])
  }
}
