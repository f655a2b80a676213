import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting

/// Captive portals in all their forms, over real connections: none of them removes an entry.
struct PortalsProgram {
  private static let forms: [(name: String, response: LoopbackResponse)] = [
    ("a page", .html("<html>Welcome to the hotel</html>")), ("JSON", .json("{}")), ("an empty success", .status(204)),
    ("a redirect to its page", .status(302).header("Location", "/portal")), ("a refusal", .status(403)),
    ("RFC 6585", .status(511)),
  ]

  func run() async throws {
    for form in Self.forms { try await run(form.name, form.response) }
    print("portals: \(Self.forms.count) forms, no entry removed or refused by one")
  }

  private func run(_ name: String, _ response: LoopbackResponse) async throws {
    let (isOpen, arrived) = (Locked(false), Locked<[Int]>([]))
    let server = try LoopbackServer { request in
      guard isOpen.withLock({ $0 }) else { return request.path == "/portal" ? .html("<html>Sign in</html>") : response }
      if let step = try? request.json(Step.self) { arrived.withLock { $0.append(step.number) } }
      return .status(200).header("X-API-Nonce", request.headers["X-API-Nonce"] ?? "")
    }
    defer { server.stop() }
    let folder = try SoakFolder()
    let store = try SQLiteStore(path: folder.file("store.sqlite"), migrations: [Step.delivered])
    let client = NetworkClient(baseURL: server.baseURL, behaviors: [.nonceVerification()])
    let outbox = try await Outbox(store, client: client, operations: [Step.self])
    for number in 1...5 { try await outbox.enqueue(Step(user: "none", number: number, lane: "x")) }
    for _ in 1...4 {
      let left = try await outbox.drain()
      try WrongOutcome.unless(left.waiting == 5 && left.dead == 0, "\(name) has changed the queue to \(left)")
    }
    isOpen.withLock { $0 = true }
    let left = try await outbox.drain()
    try WrongOutcome.unless(left.isEmpty, "after \(name) \(left.waiting) entries are left")
    try WrongOutcome.unless(
      arrived.withLock { $0 } == [1, 2, 3, 4, 5], "after \(name) there arrived \(arrived.withLock { $0 })")
    await client.shutdown()
    await store.close()
  }
}
