import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

private let shopURL = URL(string: "https://shop.example")!

/// The cart as it should not be.
private enum Before {
  actor Cart {
    private let client: NetworkClient
    private(set) var count = 0

    init(client: NetworkClient) { self.client = client }

    func add(_ item: String) async throws {
      let before = count
      try await client.send(.put("cart/\(item)"))
      count = before + 1
    }
  }
}

/// The cart as it should be.
private enum After {
  actor Cart {
    private let client: NetworkClient
    private(set) var count = 0

    init(client: NetworkClient) { self.client = client }

    func add(_ item: String) async throws {
      try await client.send(.put("cart/\(item)"))
      count += 1
    }
  }
}

/// A server of a test's, on the simulation's thread.
private final class CartServer: @unchecked Sendable {
  private(set) var items: Set<String> = []

  func answer(_ request: NetworkRequest) -> SimulatedResponse {
    items.insert(request.url.lastPathComponent)
    return .status(204)
  }
}

private struct Order: Codable, Sendable {
  let number: Int

  init(_ number: Int) { self.number = number }
}

/// A server of orders, on the simulation's thread.
private final class Shop: @unchecked Sendable {
  private(set) var orders: [Int: Int] = [:]

  func answer(_ request: NetworkRequest) -> SimulatedResponse {
    guard let body = request.body?.data, let order = try? JSONDecoder().decode(Order.self, from: body) else {
      return .status(400)
    }
    orders[order.number, default: 0] += 1
    return .status(201)
  }
}

/// The samples of "Testing every order of events" and of the simulation's types.
@Suite(.limited, .enabled(if: Simulation.isAvailable)) struct SimulationSamplesTests {
  private func world(_ world: SimulatedWorld) {
    typealias Cart = Before.Cart
    let server = CartServer()
    world.network.serve("shop.example") { server.answer($0) }
    let client = world.client(baseURL: shopURL, behaviors: [.retry()])
    let cart = Cart(client: client)
    for item in ["tea", "milk", "honey"] {
      world.call("add \(item)") { try await cart.add(item) }
    }
    world.lastly("the cart counts each item") {
      let count = await cart.count
      if count != 3 { throw WrongCount(count: count) }
    }
  }

  @Test func `the cart of the article loses an item with some seed`() async throws {
    var failure: SimulationFailure?
    for seed in Simulation.seeds(50) where failure == nil {
      do { try await Simulation(seed: seed) { world($0) }.run() } catch let error as SimulationFailure {
        failure = error
      }
    }
    #expect(failure?.kind == "the cart counts each item")
  }

  @Test(arguments: Simulation.seeds(50))
  func `the cart counts items that are added concurrently`(seed: UInt64) async throws {
    typealias Cart = After.Cart
    try await Simulation(seed: seed) { world in
      let server = CartServer()
      world.network.serve("shop.example") { server.answer($0) }
      let client = world.client(baseURL: shopURL, behaviors: [.retry()])
      let cart = Cart(client: client)
      for item in ["tea", "milk", "honey"] {
        world.call("add \(item)") { try await cart.add(item) }
      }
      world.lastly("the cart counts each item") {
        let count = await cart.count
        if count != 3 { throw WrongCount(count: count) }
      }
    }.run()
  }

  @Test(arguments: Simulation.seeds(200))
  func `an order is made once`(seed: UInt64) async throws {
    try await Simulation(seed: seed) { world in
      let shop = Shop()
      world.network.serve("shop.example") { shop.answer($0) }
      world.network.troubles = .all
      let client = world.client(baseURL: shopURL, behaviors: [.retry()])
      for number in 0..<5 {
        world.call("order \(number)", mayBeCancelled: true) {
          let order = RequestContent.json(Order(number))
          try await client.send(.post("orders", body: order))
        }
      }
      world.check("each order is made at most once") {
        shop.orders.values.allSatisfy { $0 <= 1 }
      }
    }.run()
  }

  @Test(arguments: Simulation.seeds(20))
  func `a request to a shop that takes no orders succeeds`(seed: UInt64) async throws {
    try await Simulation(seed: seed) { world in
      world.network.serve("shop.example") { request in
        request.method == .get ? .json(#"{"open":true}"#) : .status(405)
      }
      var behaviors: [any RequestBehavior] = []
      if world.includes("retry") { behaviors.append(.retry()) }
      let client = world.client(baseURL: shopURL, behaviors: behaviors)
      world.lastly("the shop is open") { try await client.send(.get("status")) }
    }.run()
  }
}

/// The samples of ``SimulatedResponse`` and ``SimulatedWorld``.
private func buildSmallWorld(_ world: SimulatedWorld) {
  world.network.serve("shop.example") { request in
    request.method == .get ? .json(#"{"open":true}"#) : .status(405)
  }
  var behaviors: [any RequestBehavior] = []
  if world.includes("retry") { behaviors.append(.retry()) }
  let client = world.client(baseURL: shopURL, behaviors: behaviors)
  world.lastly("the shop is open") { try await client.send(.get("status")) }
}

extension SimulationSamplesTests {
  @Test func `the server of a small world responds`() async throws {
    #expect(try await Simulation(seed: 1, buildSmallWorld).run().steps > 0)
  }
}

private struct WrongCount: Error { let count: Int }
