import Foundation
import RequestBehaviors

// A client that needs neither SQLite nor the testing module: it compiles and runs where libsqlite3 is missing.
struct Answering: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try request.validate()
    return NetworkResponse(request: request, statusCode: 200, body: .data(Data("42".utf8)))
  }

  func shutdown() async {}
}

guard let baseURL = URL(string: "https://api.example.com") else { exit(1) }
let client = NetworkClient(baseURL: baseURL, transport: Answering())
let answer: Int = try await client.send(.get("answer"))
print("CoreOnly got \(answer)")
exit(answer == 42 ? 0 : 1)
