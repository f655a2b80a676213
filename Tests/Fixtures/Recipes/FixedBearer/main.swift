import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

// A server in this process, so that the program runs as it is.
let server = try LoopbackServer { request in
  request.headers["Authorization"] == "Bearer s3cret"
    ? .json(#"{"name":"Mona"}"#) : .status(401)
}

struct User: Decodable {
  let name: String
}

let environment = ProcessInfo.processInfo.environment
let token = environment["API_TOKEN"] ?? "s3cret"
let client = NetworkClient(
  baseURL: server.baseURL, behaviors: [.logging(), .bearer(token)])

let user: User = try await client.send(.get("me"))
print("signed in as \(user.name)")

do {
  try await client.send(.get("me").with(\.authentication, .none))
} catch let error as NetworkError where error.statusCode == 401 {
  print("without the token: 401")
}
