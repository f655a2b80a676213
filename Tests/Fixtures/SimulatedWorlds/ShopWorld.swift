import Foundation
import RequestBehaviors
public import RequestBehaviorsTesting

/// A shop that makes each order once, by its idempotency key.
final class Shop {
  var orders: [String: Int] = [:]
  private var responses: [String: String] = [:]

  func respond(_ request: NetworkRequest) -> SimulatedResponse {
    guard request.method == .post else { return .json(#"{"open":true}"#) }
    let key = request.headers["Idempotency-Key"] ?? "none"
    if let known = responses[key] { return .json(known, status: 201) }
    let name = request.url.lastPathComponent
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
    network.troubles = .all
    var behaviors = commonBehaviors() + userBehaviors()
    if !behaviors.contains(where: { $0 is ConcurrencyLimitBehavior }), includes("limit") {
      behaviors += [.concurrencyLimit(2), limitProbe(2)]
    }
    if includes("cache") { behaviors.append(.caching(MemoryCacheStore())) }
    let client = client(baseURL: URL(string: "https://shop.example")!, behaviors: behaviors)
    for number in 0..<5 {
      call("order \(number)", mayBeCancelled: true) { try await client.send(.post("orders/\(number)")) }
      call("look \(number)", mayBeCancelled: true) {
        _ = try await client.response(for: .get("status").returning(Data.self))
      }
    }
    let isShutDown = includes("shutdown", chance: 0.1)
    if isShutDown { action("shutdown") { await client.shutdown() } }
    lastly("the shop can be reached again") {
      if isShutDown { return }
      try await self.clock.sleep(for: .seconds(120))
      _ = try await client.response(for: .get("status").returning(Data.self))
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
}
