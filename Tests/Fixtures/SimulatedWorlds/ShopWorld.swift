import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
public import RequestBehaviorsTesting

/// A shop that makes each order once, by its idempotency key.
final class Shop {
  var orders: [String: Int] = [:]
  private var responses: [String: String] = [:]

  func respond(_ request: NetworkRequest) -> SimulatedResponse {
    guard request.method == .post else { return .json(#"{"open":true}"#) }
    let name = request.url.lastPathComponent
    guard let key = request.headers["Idempotency-Key"] else {
      orders[name, default: 0] += 1
      return .json(#"{"order":"\#(name)"}"#, status: 201)
    }
    if let known = responses[key] { return .json(known, status: 201) }
    orders[name, default: 0] += 1
    responses[key] = #"{"order":"\#(name)"}"#
    return .json(#"{"order":"\#(name)"}"#, status: 201)
  }
}

extension SimulatedWorld {
  /// A shop, its clients with resilience, and orders that may be cancelled.
  public func buildShop() {
    let shop = Shop()
    network.serve("shop.example") { shop.respond($0) }
    let isCalm = includes("calm network", chance: 0.2)
    network.troubles = isCalm ? [] : .all
    var behaviors = commonBehaviors() + userBehaviors()
    if includes("cache") { behaviors.append(.caching(MemoryCacheStore())) }
    let client = client(baseURL: URL(string: "https://shop.example")!, behaviors: behaviors)
    let state = ShopState()
    for number in 0..<5 {
      // A request without a key may not be repeated once it may have arrived.
      let key = chance(0.5, "order \(number) has a key") ? IdempotencyKey.generated : nil
      call("order \(number)", mayBeCancelled: true) { [clock] in
        let isUnderWay = state.shutdown == nil
        defer { if isUnderWay { state.endOfThoseUnderWay = clock.now() } }
        try await client.send(.post("orders/\(number)").with(\.idempotencyKey, key))
      }
      call("look \(number)", mayBeCancelled: true) { [clock] in
        let isUnderWay = state.shutdown == nil
        defer { if isUnderWay { state.endOfThoseUnderWay = clock.now() } }
        _ = try await client.response(for: .get("status").returning(Data.self))
      }
    }
    // Users who give up, which says nothing of the shop.
    if includes("impatient users", chance: 0.2) {
      for index in 0..<15 {
        action("impatient look \(index)") { [unowned self] in
          let look = Task { try await client.response(for: .get("status/\(index)").returning(Data.self)) }
          try await clock.sleep(for: .milliseconds(number(in: 1..<400, "patience")))
          look.cancel()
          let time = clock.now()
          guard case .failure(let error) = await look.result, hidesCancellation(at: time, error) else { return }
          state.problems.append("impatient look \(index) threw \(error)")
        }
      }
      check("users who give up get CancellationError") {
        if let problem = state.problems.first { throw BrokenRule(problem) }
        return true
      }
    }
    let isShutDown = includes("shutdown", chance: 0.15)
    if isShutDown {
      action("shutdown") { [clock] in
        await client.shutdown()
        state.shutdown = clock.now()
      }
      check("no call goes on after the shutdown") {
        guard let shutdown = state.shutdown, let end = state.endOfThoseUnderWay, end - shutdown > .seconds(5) else {
          return true
        }
        throw BrokenRule("a call ended \(end - shutdown) after the shutdown")
      }
    }
    if isCalm { checkCalls() }
    lastly("the shop can be reached again, by several at a time") { [clock] in
      if isShutDown { return }
      try await clock.sleep(for: .seconds(120))
      @Sendable func look(_ number: Int) async throws {
        let request = Request<Data>.get("again/\(number)").with(\.deadline, .seconds(3_600))
        _ = try await client.response(for: request)
      }
      for number in 0..<3 { try await look(number) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 3..<10 { group.addTask { try await look(number) } }
        try await group.waitForAll()
      }
    }
    check("a call whose send ends after its cancellation throws CancellationError") { [unowned self] in
      for call in calls {
        guard let cancelled = call.cancelledAt, let error = call.error as? NetworkError else { continue }
        if let end = error.attempts.compactMap(\.endedAt).max(), end > cancelled {
          throw BrokenRule("\(call.name) threw \(error)")
        }
      }
      return true
    }
    check("each order is made at most once") { shop.orders.values.allSatisfy { $0 <= 1 } }
  }

  /// Checks that on a network without troubles each call succeeds that nothing of the client's own ends.
  private func checkCalls() {
    let own: Set<NetworkError.Code> = [.deadlineExceeded, .gateClosed, .clientShutDown, .rateLimited]
    check("without troubles each call succeeds") { [unowned self] in
      for call in calls where call.cancelledAt == nil {
        guard let error = call.error else { continue }
        if let error = error as? NetworkError, own.contains(error.code) { continue }
        throw BrokenRule("\(call.name) threw \(error)")
      }
      return true
    }
  }
}

/// All of it is used on the simulation's thread.
private final class ShopState: @unchecked Sendable {
  var shutdown: Duration?
  /// When the last call ended that had begun before the shutdown.
  var endOfThoseUnderWay: Duration?
  var problems: [String] = []
}
