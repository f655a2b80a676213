import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport

/// Sends many requests over a network that fails often, and tells whether each ended as it should.
///
/// `ResilienceSoak COUNT` prints how many threads and bytes the process has gained, how many requests succeeded, failed
/// and were cancelled, how many attempts that took, and how long the slowest request took, in milliseconds. It ends with
/// an error for an outcome that is wrong.
@main
enum ResilienceSoak {
  private static let deadline = Duration.seconds(20)

  static func main() async throws {
    let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 0
    let faults = FaultyServer()
    let server = try LoopbackServer(options: .init(recordsRequests: false)) { faults.respond(to: $0) }
    let tally = Tally()
    let client = client(of: server.baseURL, tally)
    faults.setFaults(true)
    // What pools and caches take at first is no leak.
    try await send(max(count / 10, 200), client, Tally())
    tally.forgetAttempts()
    let (threads, bytes) = try (processFigure("Threads"), processFigure("VmRSS"))
    try await send(count, client, tally)
    print(
      try processFigure("Threads") - threads, try (processFigure("VmRSS") - bytes) * 1_024, tally.succeeded,
      tally.failed,
      tally.cancelled, tally.attempts, Int(tally.slowest / .milliseconds(1)))
    for (code, number) in tally.codes.sorted(by: { $0.key < $1.key }) { print(code, number) }
    guard tally.slowest < deadline + .seconds(2) else { throw WrongOutcome("a request took \(tally.slowest)") }
    // When the server is well again, so is everything else.
    faults.setFaults(false)
    let text: String = try await client.send(.get("x"))
    guard text == FaultyServer.body(of: "/x") else { throw WrongOutcome("after the faults: \(text)") }
  }

  /// A client of everything that stands against a bad network, with waits that suit a server on the same machine.
  private static func client(of baseURL: URL, _ tally: Tally) -> NetworkClient {
    let retry = RetryPolicy(backoff: Backoff(base: .milliseconds(10), floor: .milliseconds(1)))
    let breaker = CircuitPolicy(
      failureRatio: 0.8, minimumRequests: 40, window: .seconds(2), breakDuration: .milliseconds(20))
    var configuration = RequestConfiguration(
      baseURL: baseURL,
      behaviors: [
        .resilience(
          deadline: .deadline(deadline), retry: .retry(retry, budget: .unlimited),
          circuitBreaker: .circuitBreaker(CircuitBreaker(breaker)), hedging: .hedging(after: .milliseconds(100)),
          rateLimit: .rateLimit(100_000, burst: 1_000), concurrencyLimit: .concurrencyLimit(48)),
        .onCallEnd { tally.add(attempts: $0.call.attempts.count) },
      ])
    // Longer than a busy machine needs for a response, so that only a stalled one times out.
    configuration.options.timeout = .seconds(4)
    return NetworkClient(configuration: configuration)
  }

  /// Sends requests of several kinds, 64 at a time.
  private static func send(_ count: Int, _ client: NetworkClient, _ tally: Tally) async throws {
    let lanes = 64
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<lanes {
        group.addTask {
          for number in stride(from: lane, to: count, by: lanes) { try await request(number, client, tally) }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func request(_ number: Int, _ client: NetworkClient, _ tally: Tally) async throws {
    // Four requests share a send, and so its failure. If many did, one failure would decide about the whole run.
    let group = number / 20
    let request: Request<String> =
      switch number % 10 {
      case 0, 1: .get("shared/\(group)")
      case 2: .post("items/\(number)", body: .text("hello"))
      case 3: .post("items/\(number)", body: .text("hello")).with(\.idempotencyKey, .generated)
      case 4: .put("items/\(number)", body: .text("hello"))
      default: .get("items/\(number)")
      }
    let path = number % 10 < 2 ? "/shared/\(group)" : "/items/\(number)"
    let start = ContinuousClock.now
    let call = Task { try await client.send(request) }
    let isCancelled = number % 20 == 19
    if isCancelled {
      // Real time: where in its way over the network a request is cancelled is to differ.
      try await RequestClock.system.sleep(for: .milliseconds(number % 7))
      call.cancel()
    }
    let outcome = await call.result
    tally.add(duration: start.duration(to: .now))
    try tally.judge(outcome, of: path, isCancelled: isCancelled)
  }
}
