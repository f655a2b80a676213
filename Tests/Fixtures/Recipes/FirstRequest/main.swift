import Foundation
import RequestBehaviors

struct Repository: Decodable {
  let name: String
  let description: String
}

let client = NetworkClient(
  baseURL: URL(string: "https://api.github.com")!,
  behaviors: [.logging(), .resilience()])
let repository: Repository = try await client.send(
  .get("repos/swiftlang/swift"))
print(repository.name + ":", repository.description)
