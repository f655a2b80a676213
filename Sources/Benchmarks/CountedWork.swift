import CAllocationCounter
import Foundation
import RequestBehaviors
import RequestBehaviorsCaching

/// A piece of work that is repeated and not measured: another program counts its instructions.
///
/// Time differs from machine to machine and from run to run. The instructions of the same work do not, so a commit that
/// adds some is seen (`.ci/instructions`).
struct CountedWork: Sendable {
  /// The name that `--repeat` selects.
  let name: String
  /// Prepares the work, and returns what is repeated.
  let prepare: @Sendable () async throws -> Measure.Work

  /// All works, in the order in which they are printed.
  static let all = inMemory + overCurl

  private static let inMemory = [
    CountedWork("empty", behaviors: { [] }),
    CountedWork("header") { [HeaderBehavior(name: "X-A")] },
    CountedWork("token") { [.tokenAuth(session())] },
    CountedWork("token-told", over: NullEndingTransport()) { [.tokenAuth(session())] },
    CountedWork("logging") { [.logging(ClosureLogSink { _ in })] },
    CountedWork("passing") { [PassingBehavior()] },
    CountedWork("retry") { [.retry()] },
    CountedWork("breaker") { [.circuitBreaker()] },
    CountedWork("rate") { [.rateLimit(1e9, burst: 1_000_000)] },
    CountedWork("concurrency") { [.concurrencyLimit(64)] },
    CountedWork("five", behaviors: five),
    CountedWork("resilience") { [.resilience()] },
    CountedWork("recorder") { [.recording(CallRecorder())] },
    CountedWork("trace") { [.traceContext()] },
    CountedWork("json-log") { [.logging(ClosureLogSink { blackHole($0.json) })] },
    CountedWork("cache", over: StorableTransport(size: 1 << 10)) { [.caching(MemoryCacheStore())] },
    CountedWork(name: "sqlite-cache") {
      let files = try CacheFiles()
      let client = NetworkClient(
        baseURL: baseURL, behaviors: [.caching(try files.store())], transport: StorableTransport(size: 1 << 10))
      return {
        try await client.send(.get("users/\(1)", query: ["page": 2]))
        withExtendedLifetime(files) {}
      }
    },
    CountedWork(name: "sqlite-read") {
      let files = try CacheFiles()
      let client = NetworkClient(
        baseURL: baseURL, transport: ReadingTransport(store: try await files.plain(1 << 10)))
      return {
        try await client.send(.get("users/\(1)", query: ["page": 2]))
        withExtendedLifetime(files) {}
      }
    },
    CountedWork("redaction", of: Benchmark.proseBody),
    CountedWork("redaction-short", of: Benchmark.shortMembersBody),
    CountedWork(name: "lines") {
      let chunks = EventSample.chunks(100)
      return { blackHole(try await EventSample.count(EventSample.response(chunks).lines)) }
    },
    CountedWork(name: "events") {
      let chunks = EventSample.chunks(100)
      return { blackHole(try await EventSample.count(EventSample.response(chunks).events)) }
    },
    CountedWork(name: "oauth1") {
      let sample = try OAuth1Sample()
      return { try sample.sign() }
    },
  ]

  init(name: String, prepare: @escaping @Sendable () async throws -> Measure.Work) {
    self.name = name
    self.prepare = prepare
  }

  /// Creates the work of sending a request.
  private init(
    _ name: String, over transport: any Transport = NullTransport(),
    behaviors: @escaping @Sendable () -> [any RequestBehavior]
  ) {
    self.init(name: name) {
      let client = NetworkClient(baseURL: baseURL, behaviors: behaviors(), transport: transport)
      return { try await client.send(.get("users/\(1)", query: ["page": 2])) }
    }
  }

  /// Creates the work of redacting a JSON body.
  private init(_ name: String, of body: Data) {
    self.init(name: name) {
      { blackHole(Redactor.standard.redact(body: body, contentType: "application/json", limit: 4_096)) }
    }
  }

  /// The behaviors that people list: logging, timing, a token, retries and headers.
  static func five() -> [any RequestBehavior] {
    [
      .logging(ClosureLogSink { _ in }), .timing(LatencyStatistics()), .tokenAuth(session()), .retry(),
      .headers(["X-Client": "benchmarks", "Accept-Language": "en"]),
    ]
  }

  private static func session() -> TokenSession {
    let value = String(repeating: "c2VjcmV0LXRva2Vu", count: 4)
    return TokenSession(source: .closure { _ in AccessToken(value, lifetime: .seconds(3_600)) })
  }

  /// Does the work that the arguments name as often as they say, and prints the allocations.
  @concurrent
  static func run(_ arguments: ArraySlice<String>) async throws {
    guard arguments.count == 2, let count = arguments.last.flatMap({ Int($0) }) else {
      throw Benchmarks.Usage(problem: "--repeat needs a work and a number")
    }
    guard let work = all.first(where: { $0.name == arguments.first }) else {
      throw Benchmarks.Usage(problem: "no work \(arguments.first ?? "")")
    }
    let repeated = try await work.prepare()
    // The first time makes what later ones use again.
    try await repeated()
    let allocations = allocation_count()
    for _ in 0..<count { try await repeated() }
    print("allocations: \(allocation_count() - allocations)")
  }
}
