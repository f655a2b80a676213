import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import Testing

private struct ShopError: Error {
  init(_ error: any Error) {}
}

/// Keeps its notifications.
private final class Reports: @unchecked Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  private var reports: [CallReport] = []

  func append(_ report: CallReport) { lock.withLock { reports.append(report) } }
}

private struct TagSaver: ResponseSaver {
  func save(_ response: NetworkResponse, in db: Database) throws {}
}

private struct Spinner: ActivityIndicator {
  func setActive(_ isActive: Bool) {}
}

private struct Tasks: BackgroundTaskRunner {
  func beginTask(named name: String, expiration: @escaping @MainActor @Sendable () -> Void) -> BackgroundTaskID? { nil }
  func endTask(_ id: BackgroundTaskID) {}
}

/// A generator that shuffles the same in every run (SplitMix64).
private struct Shuffling: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}

/// The list of "The standard stack", beside the sort and beside the sources.
@Suite(.limited) final class StandardStackTests {
  private let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).sqlite").path()

  deinit {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  private func standardStack() throws -> [any RequestBehavior] {
    let store = try SQLiteStore(path: path)
    let calls = CallRecorder()
    let (timings, recorder, spinner, tasks) = (LatencyStatistics(), PrintingMetrics(), Spinner(), Tasks())
    let session = TokenSession(source: AccountTokens())
    let oauth1 = OAuth1Session(consumer: OAuth1Consumer(key: "k", secret: "s"))
    let (key, secret) = ("k3y", "s3cret")
    let reports = Reports()
    let signature = MessageSignature(keyID: "app", hmacSHA256: Data("k".utf8), covering: ["@method", "@target-uri"])

    let (gate, connectivity) = (Gate(), Connectivity(AsyncStream { _ in }))
    let usersInOne = BatchBehavior(group: { _ in nil }, merge: { $0[0] }, split: { _, _ in [] })

    let stack: [any RequestBehavior] = [
      // First: errors leave as your own, and no behavior sees them.
      .mapError { error in ShopError(error) },

      // Observation: once per call, with the final outcome.
      .logging(),
      .timing(timings),
      .metrics(recorder),
      .onCallEnd { report in reports.append(report) },
      .activityIndicator(spinner),
      .backgroundTask(tasks),

      // Deadline: covers waits, retries and saves.
      .deadline(.seconds(60)),

      // Request: once per call, whatever is repeated further in.
      .headers(["X-Client": "shop-ios"]),
      .userAgent("shop/1.2"),
      .acceptLanguage(),
      .apiKey("X-API-Key", key),  // or .bearer(token)

      // Coalescing: identical requests are sent once.
      .coalescing(),

      // Persistence: saves what passed all checks further in.
      .persist(TagSaver(), in: store),
      .saveRecords([Issue].self, into: "issue", in: store),
      .ingest(into: "event", in: store),

      // Caching: a hit does not run a behavior further in.
      .caching(MemoryCacheStore()),

      // Gate: holds or refuses before anything is tried.
      .gate(gate),
      .offline(connectivity),
      usersInOne,

      // Retry: each attempt runs all that follows again.
      .retry(),
      .hedging(),

      // Middle: your own, unless they say otherwise.
      TenantBehavior(tenant: "north"),

      // Redirects: built in, listed only to be seen here.
      RedirectsBehavior(),

      // Authentication: again for every hop.
      .tokenAuth(session),
      .basicAuth(user: "build", password: secret),

      // Limits: per send, and no request waits while it holds a probe.
      .rateLimit(10, burst: 20),  // or .serverRateLimits()
      .concurrencyLimit(8),
      .circuitBreaker(),

      // Signing: after all that changes the request.
      .oauth1(oauth1),
      .messageSignature(signature),

      // Verification: a forged response does not reach the behaviors above.
      .nonceVerification(),
      .traceContext(),

      // Last: what the transport gets.
      .recording(calls),
    ]
    return stack
  }

  private func sorted(_ behaviors: [any RequestBehavior]) throws -> [Pipeline.Entry] {
    try NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: MockTransport())
      .pipeline(for: Request<Void>.get("x")).entries
  }

  private func name(_ behavior: any RequestBehavior) -> String { "\(type(of: behavior))" }

  @Test func `the sorted stack is the stack as listed`() throws {
    let stack = try standardStack()
    #expect(try sorted(stack).map { name($0.behavior) } == stack.map(name))
  }

  @Test(arguments: 1...50)
  func `any shuffle of the stack is sorted into it`(seed: UInt64) throws {
    let stack = try standardStack()
    var shuffling = Shuffling(state: seed)
    let shuffled = stack.shuffled(using: &shuffling)
    // Behaviors of one place keep the order in which they are listed.
    let expected = shuffled.enumerated().sorted { left, right in
      let (outer, inner) = (left.element.order, right.element.order)
      return outer == inner ? left.offset < right.offset : outer < inner
    }
    let entries = try sorted(shuffled)
    #expect(entries.map { name($0.behavior) } == expected.map { name($0.element) })
    #expect(entries.map(\.order) == stack.map(\.order))
  }

  // MARK: - The table

  /// The reason for each place, as "The standard order" gives it.
  private static let places: [(order: BehaviorOrder, why: String)] = [
    (.first, "your own outermost: no other behavior sees the errors that it makes"),
    (.observation, "once per call, with the final outcome"),
    (.deadline, "covers waits, retries and saves; inside of retries it would begin with the first attempt"),
    (.request, "once per call: caches and coalescing see these fields"),
    (.coalescing, "everything further in runs once; inside of retries each attempt would look for others"),
    (.persistence, "saves only what passed all checks further in, cache hits too; the caller waits for it"),
    (.caching, "a hit touches nothing further in; outside of coalescing each caller would ask the server"),
    (.gate, "holds or refuses before anything is tried; inside of retries a closed gate would use them up"),
    (.retry, "each try runs what follows again: a new token, a new signature, a new nonce"),
    (.hedging, "sends a late attempt a second time; outside of retries it would begin a second call instead"),
    (.middle, "your own, by default: once per try, when redirects and replays have settled the outcome"),
    (.redirects, "every hop is authenticated, limited, signed and verified for itself"),
    (.authentication, "the wait for a token comes before the limits; inside of them it would hold a permit"),
    (.rateLimit, "per send, by the hop's origin; outside of retries it would count calls, not sends"),
    (.circuitBreaker, "counts sends; outside of the limits a probe would wait for a permit"),
    (.signing, "after all that changes URL, method or body"),
    (.verification, "a forged response reaches nothing further out; each send has a nonce and a span of its own"),
    (.last, "your own innermost too: sees what is sent and received, without the credentials of other origins"),
  ]

  /// The way to list each behavior.
  private static let factories: [String: String] = [
    "MapErrorBehavior": "`.mapError { … }`", "LoggingBehavior": "`.logging()`", "TimingBehavior": "`.timing(timings)`",
    "MetricsBehavior": "`.metrics(recorder)`", "CallEndBehavior": "`.onCallEnd { … }`",
    "ActivityIndicatorBehavior": "`.activityIndicator(spinner)`", "BackgroundTaskBehavior": "`.backgroundTask(tasks)`",
    "DeadlineBehavior": "`.deadline(.seconds(60))`",
    "HeadersBehavior": "`.headers([…])`, `.userAgent(…)`, `.acceptLanguage()`",
    "APIKeyBehavior": "`.apiKey(\"X-API-Key\", key)`, `.bearer(token)`", "CoalescingBehavior": "`.coalescing()`",
    "SaveBehavior": "`.persist(…)`, `.saveRecords(…)`, `.ingest(…)`", "CachingBehavior": "`.caching(store)`",
    "GateBehavior": "`.gate(gate)`",
    "OfflineBehavior": "`.offline(connectivity)`", "BatchBehavior": "`BatchBehavior(…)`", "RetryBehavior": "`.retry()`",
    "HedgingBehavior": "`.hedging()`", "RedirectsBehavior": "(built in)", "TokenAuthBehavior": "`.tokenAuth(session)`",
    "BasicAuthBehavior": "`.basicAuth(user:password:)`",
    "RateLimitBehavior": "`.rateLimit(10, burst: 20)`, `.serverRateLimits()`",
    "ConcurrencyLimitBehavior": "`.concurrencyLimit(8)` (inside of the rate limit)",
    "CircuitBreakerBehavior": "`.circuitBreaker()`",
    "OAuth1Behavior": "`.oauth1(session)`",
    "MessageSignatureBehavior": "`.messageSignature(signature)` (inside of OAuth 1.0a)",
    "NonceVerificationBehavior": "`.nonceVerification()`",
    "TraceContextBehavior": "`.traceContext()`", "RecordingBehavior": "`.recording(calls)`",
  ]

  /// The table of "The standard order", made of the stack.
  private func table() throws -> String {
    let entries = try sorted(standardStack())
    var rows = ["| place | behaviors | why there |", "|---|---|---|"]
    for (order, why) in Self.places {
      var seen: Set<String> = []
      let names = entries.filter { [order, .inside(order)].contains($0.order) }.map {
        "\(name($0.behavior).prefix { $0 != "<" })"
      }
      .filter { seen.insert($0).inserted && $0 != "TenantBehavior" }
      let cells = names.map { name in
        // The pages of the core have no links to other modules.
        let isOfOtherModule = ["SaveBehavior", "CachingBehavior", "OAuth1Behavior"].contains(name)
        let type = isOfOtherModule ? "`\(name)`" : "``\(name)``"
        return "\(type) \(Self.factories[name] ?? "(how is it listed?)")"
      }
      rows.append("| `.\(order)` | \(cells.isEmpty ? "–" : cells.joined(separator: "; ")) | \(why) |")
    }
    return rows.joined(separator: "\n")
  }

  @Test func `the table of the standard order is that of the stack`() throws {
    try Repository.expect(
      "Sources/RequestBehaviors/RequestBehaviors.docc/TheStandardOrder.md", contains: try table())
  }

  @Test func `every behavior of the library is in the stack`() throws {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    var declared: Set<String> = []
    for module in Repository.modules {
      let folder = root.appending(path: "Sources/\(module)")
      let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        let source = try String(contentsOf: file, encoding: .utf8)
        declared.formUnion(source.matches(of: /\npublic (?:struct|final class) (\w+Behavior)\b/).map { "\($0.1)" })
      }
    }
    // The first two have no place of their own; the third one belongs to a token of its own kind.
    declared.subtract(["ClosureBehavior", "EmptyBehavior", "DPoPBehavior"])
    let stack = try Set(standardStack().map { "\(name($0).prefix { $0 != "<" })" })
    #expect(declared.count > 15)
    #expect(declared.isSubset(of: stack), "missing in the stack: \(declared.subtracting(stack).sorted())")
  }

  @Test func `every factory of a behavior is in the table`() throws {
    var declared: Set<String> = []
    for path in Repository.modules.flatMap({ Repository.paths(under: "Sources/\($0)", suffix: ".swift") }) {
      let parts = try Repository.text(path)
        .components(separatedBy: "\nextension RequestBehavior where Self == ").dropFirst()
      for part in parts where !part.hasPrefix("BehaviorGroup") && !part.hasPrefix("DPoPBehavior") {
        let body = part.components(separatedBy: "\n}").first ?? ""
        declared.formUnion(body.matches(of: /public static func (\w+)/).map { String($0.1) })
      }
    }
    let table = try table()
    #expect(declared.count > 25)
    #expect(declared.filter { !table.contains("`.\($0)(") && !table.contains("`.\($0) {") } == [])
  }

  @Test func `one client has the whole stack, and another has three behaviors`() throws {
    let stack = try standardStack()
    let session = TokenSession(source: AccountTokens())
    let client = NetworkClient(baseURL: baseURL, behaviors: stack)
    print(try client.pipeline(for: Request<User>.get("users/1")))
    let behaviors: [any RequestBehavior] = [
      .logging(),
      .acceptLanguage(),
      .tokenAuth(session),
    ]
    #expect(try sorted(behaviors).map(\.order) == [.observation, .request, .redirects, .authentication])
  }
}
