import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting
import TestSupport

/// One drain of a long queue.
struct DrainProgram {
  let count: Int

  /// Counts what arrives, and responds at once.
  private final class Counter: Transport {
    let numbers = Locked<[Int]>([])

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      let step = try request.json(Step.self)
      numbers.withLock { $0.append(step.number) }
      var response = NetworkResponse(request: request, statusCode: 200)
      response.headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
      return response
    }

    func shutdown() async {}
  }

  func run() async throws {
    let (folder, counter) = (try SoakFolder(), Counter())
    let store = try SQLiteStore(path: folder.file("store.sqlite"), migrations: [Step.delivered])
    let client = NetworkClient(
      baseURL: soakURL, behaviors: [.nonceVerification()], transport: counter)
    let outbox = try await Outbox(store, client: client, operations: [Step.self])
    let enqueuing = Stopwatch()
    for first in stride(from: 0, to: count, by: 1_000) {
      let last = min(first + 1_000, count)
      try await outbox.write { db, queue in
        for number in first..<last { try queue.enqueue(step(number), in: db) }
      }
    }
    let enqueued = enqueuing.text
    let bytes = memory()
    let draining = Stopwatch()
    let left = try await outbox.drain()
    let seconds = draining.seconds
    let numbers = counter.numbers.withLock { $0 }
    try WrongOutcome.unless(left.isEmpty, "\(left.waiting) entries are left")
    try WrongOutcome.unless(numbers.count == count, "\(numbers.count) requests for \(count) entries")
    try WrongOutcome.unless(Set(numbers).count == count, "an entry was sent twice and another one never")
    for lane in 0..<50 {
      let inLane = numbers.filter { $0 % 4 == 0 && $0 / 4 % 50 == lane }
      try WrongOutcome.unless(inLane == inLane.sorted(), "the lane \(lane) is out of order")
    }
    print(
      "drain: \(count) entries, enqueued in \(enqueued), drained in \(String(format: "%.2f", seconds)) s, "
        + "\(Int(Double(count) / max(seconds, 0.001))) a second, \((memory() - bytes) / 1_024) MiB more memory")
  }

  /// One of four is in one of 50 lanes.
  private func step(_ number: Int) -> Step {
    Step(user: "none", number: number, lane: number % 4 == 0 ? "\(number / 4 % 50)" : nil)
  }

  /// The resident memory in kibibytes; 0 where the system does not tell it by a file.
  private func memory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
  }
}
