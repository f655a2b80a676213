import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

// A consumer whose declarations belong to the main actor unless they say otherwise.
struct User: Decodable {
  var name: String
}

final class Account: Decodable {
  var name: String
}

nonisolated struct Repository: Decodable {
  var name: String
}

final class ViewModel {
  private(set) var names: [String] = []
  private let client: NetworkClient

  init(client: NetworkClient) { self.client = client }

  func load() async throws {
    let user: User = try await client.send(.get("user"))
    let account: Account = try await client.send(.get("account"))
    let repository: Repository = try await client.send(.get("repository"))
    let some: User? = try await client.send(.get("user").nilWhenNotFound())
    let users = try await client.response(for: .get("users").returning([User].self)).value
    try await client.send(.delete("user"))
    names = [user.name, account.name, repository.name, some?.name ?? "none"] + users.map(\.name)
  }
}

let mock = MockTransport()
mock.on(.get, "users").respond(200, jsonText: #"[{"name":"e"}]"#)
mock.on(.get, "*").respond(200, jsonText: #"{"name":"a"}"#)
mock.on(.delete, "user").respond(204)
guard let baseURL = URL(string: "https://example.com/") else { exit(1) }
let model = ViewModel(client: NetworkClient(baseURL: baseURL, transport: mock))
try await model.load()
print("MainActorApp got \(model.names)")
exit(model.names == ["a", "a", "a", "a", "e"] ? 0 : 1)
