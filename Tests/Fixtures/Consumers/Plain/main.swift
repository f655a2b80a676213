import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting

// A consumer without the library's upcoming features: behaviors, transports and closures of its own.
struct User: Codable {
  var name: String
}

struct TenantBehavior: RequestBehavior {
  func headers(for request: NetworkRequest) async throws -> HeaderFields { ["X-Tenant": "a"] }

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    try await withThrowingTaskGroup(of: NetworkResponse.self) { group in
      group.addTask { try await next(request) }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
  }
}

// The sample of SQLiteStore: what a write returns need not be used.
func save(_ users: [User], in store: SQLiteStore) async throws -> [User] {
  try await store.write { db in try db.save(users, into: "user") }
  try await store.write { db in try db.savepoint { try db.execute("DELETE FROM user WHERE name = ''") } }
  return try await store.read { db in try db.query("SELECT * FROM user") }
}

let server = try LoopbackServer { request in
  .json(#"{"name":"\#(request.headers["X-Tenant"] ?? "")"}"#)
}
let client = NetworkClient(
  baseURL: server.baseURL,
  behaviors: [TenantBehavior(), ClosureBehavior("note", afterSuccess: { response, _ in print(response) })])
let user: User = try await client.send(.get("users/\("octocat")"))
print("Plain got \(user.name)")
let store = try SQLiteStore(
  path: ":memory:",
  migrations: [SQLiteMigration("user") { db in try db.createTable("user", for: User.self, primaryKey: ["name"]) }])
let saved = try await save([user], in: store)
exit(user.name == "a" && saved.map(\.name) == ["a"] ? 0 : 1)
