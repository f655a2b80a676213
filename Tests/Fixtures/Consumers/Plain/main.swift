import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting

// A consumer without the library's upcoming features: behaviors, transports and closures of its own.
struct User: Codable {
  var name: String
}

struct TenantBehavior: RequestBehavior {
  func headers(for request: NetworkRequest) async throws -> HTTPHeaders { ["X-Tenant": "a"] }

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    try await withThrowingTaskGroup(of: NetworkResponse.self) { group in
      group.addTask { try await next(request) }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
  }
}

let server = try LoopbackServer { request in
  .json(#"{"name":"\#(request.headers["X-Tenant"] ?? "")"}"#)
}
let client = NetworkClient(
  baseURL: server.baseURL,
  behaviors: [TenantBehavior(), ClosureBehavior("note", afterSuccess: { response, _ in print(response) })])
let user: User = try await client.send(.get("users/\("octocat")"))
print("Plain got \(user.name)")
exit(user.name == "a" ? 0 : 1)
