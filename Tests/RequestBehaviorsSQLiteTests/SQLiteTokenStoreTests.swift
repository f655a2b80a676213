import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import Testing

@Suite struct SQLiteTokenStoreTests {
  @Test func `a token is there for the next process, replaced as a whole, and removed`() async throws {
    let folder = try TemporaryFolder()
    let tokens = SQLiteTokenStore(try SQLiteStore(path: folder.file()))
    #expect(try await tokens.load() == nil)
    for value in ["one", "two"] {
      try await tokens.save(AccessToken(value))
      let next = SQLiteTokenStore(try SQLiteStore(path: folder.file()))
      #expect(try await next.load()?.value == value)
      #expect(next.location == tokens.location)
    }
    try await tokens.save(nil)
    #expect(try await tokens.load() == nil)
  }

  @Test func `tokens of different names do not meet`() async throws {
    let store = try SQLiteStore(path: ":memory:")
    let (user, app) = (SQLiteTokenStore(store, name: "user"), SQLiteTokenStore(store, name: "app"))
    try await user.save(AccessToken("u"))
    try await app.save(AccessToken("a"))
    try await app.save(nil)
    #expect(try await user.load()?.value == "u")
  }
}
