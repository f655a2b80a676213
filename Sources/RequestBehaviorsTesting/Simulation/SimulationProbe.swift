import Foundation
import RequestBehaviors

/// A behavior of the simulation: counts hooks, lets other tasks run in between, and knows which calls are still held.
final class SimulationProbe: RequestBehavior, @unchecked Sendable {
  // Unchecked, because only the simulation's thread uses it.

  private struct WeakCall {
    weak var call: Call?
    let name: String
  }

  let order: BehaviorOrder
  private let name: String
  private var random: SimulatedRandom
  private var begun = 0
  private var succeeded = 0
  private var failed = 0
  private var calls: [WeakCall] = []
  private let isFirst: Bool
  private let scheduler: SimulationScheduler

  init(_ order: BehaviorOrder, number: Int, seed: UInt64, scheduler: SimulationScheduler) {
    self.scheduler = scheduler
    self.order = order
    name = "probe \(number) (\(order))"
    random = SimulatedRandom(seed: seed, name: name)
    isFirst = order == .first
  }

  /// Why the hooks are not balanced; `nil` if they are.
  var problem: String? {
    begun == succeeded + failed
      ? nil : "of \(name): beforeSend \(begun) times, afterSuccess \(succeeded), afterFailure \(failed)"
  }

  /// The names of the calls that something still holds.
  var heldCalls: [String] { calls.filter { $0.call != nil }.map(\.name) }

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    if isFirst { calls.append(WeakCall(call: request.call, name: "\(request.method) \(request.url.path())")) }
    await letOthersRun()
    do {
      let response = try await next(request)
      await letOthersRun()
      return response
    } catch {
      await letOthersRun()
      throw error
    }
  }

  func beforeSend(_ request: NetworkRequest) { begun += 1 }
  func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) { succeeded += 1 }
  func afterFailure(_ error: any Error, for request: NetworkRequest) { failed += 1 }

  private func letOthersRun() async {
    guard random.chance(0.3) else { return }
    for _ in 0..<Int.random(in: 1...3, using: &random) { await scheduler.letOthersRun() }
  }
}
