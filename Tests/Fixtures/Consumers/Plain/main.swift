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

actor LockCount {
  private(set) var value = 0
  func note() { value += 1 }
}

// The lock of a store is found also from a module in which `() async -> Void` is another type than in the library.
final class LockedStore: TokenStore {
  let count = LockCount()

  func load() async throws -> AccessToken? { nil }
  func save(_ token: AccessToken?) async throws {}

  func withRefreshLock(_ work: RefreshWork) async throws {
    await count.note()
    await work()
  }
}

let server = try LoopbackServer { request in
  .json(#"{"name":"\#(request.headers["X-Tenant"] ?? "")"}"#)
}
let client = NetworkClient(
  baseURL: server.baseURL,
  behaviors: [TenantBehavior(), ClosureBehavior("note", afterSuccess: { response, _ in print(response) })])
let tokens = LockedStore()
let session = TokenSession(source: .closure { _ in AccessToken("a1b2") }, store: tokens)
let user: User = try await client.with { $0.behaviors.append(.tokenAuth(session)) }.send(.get("users/\("octocat")"))
let locks = await tokens.count.value
print("Plain got \(user.name)")
let store = try SQLiteStore(
  path: ":memory:",
  migrations: [SQLiteMigration("user") { db in try db.createTable("user", for: User.self, primaryKey: ["name"]) }])
let saved = try await save([user], in: store)
exit(user.name == "a" && locks == 1 && saved.map(\.name) == ["a"] ? 0 : 1)
