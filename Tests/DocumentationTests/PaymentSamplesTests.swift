import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

private struct Order: Encodable, Sendable {
  var amount = 12
  var paymentKey = "8e03978e-40d5-43dd-bc93-6894a57f9324"
}

private struct Payment: Decodable, Sendable {
  let id: Int
}

/// A shop whose orders are paid.
private struct Shop {
  let client: NetworkClient
  let journal = Journal()

  /// Pays an order once, however often it is called.
  func pay(_ order: Order) async throws -> Payment {
    try await client.send(
      .post("payments", body: .json(order))
        .with(\.idempotencyKey, .value(order.paymentKey)))
  }

  func show(_ payment: Payment) { journal.note("paid: \(payment.id)") }

  func tell(_ text: String) { journal.note(text) }

  func checkOut(_ order: Order) async throws {
    do {
      show(try await pay(order))
    } catch let error as NetworkError where !error.mayHaveArrived {
      tell("Nothing was paid. Try again.")
    } catch let error as NetworkError where error.statusCode == 402 {
      tell("The card was declined.")
    } catch is NetworkError {
      tell("We are checking your payment.")
    }
  }
}

/// The samples of "Retry a payment".
@Suite(.limited) struct PaymentSamplesTests {
  private let mock = MockTransport(baseURL: baseURL)
  private let order = Order()

  @Test func `a generated key is sent`() async throws {
    mock.on(.post, "orders").respond(204)
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    try await client.send(
      .post("orders", body: .json(order))
        .with(\.idempotencyKey, .generated))
    #expect(mock.sent.first?.headers["Idempotency-Key"] != nil)
  }

  private func shop() -> Shop {
    let decider: RetryDecider = { attempt in
      let response = attempt.response
      // The first attempt is still being carried out.
      if response?.statusCode == 409 { return .retry(after: .seconds(1)) }
      // A stored failure does not change.
      if response?.headers["Idempotent-Replayed"] == "true" {
        return .stop
      }
      return attempt.suggestion
    }
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [
        .retry(budget: RetryBudget(reserve: 3), decider: decider),
        .logging(),
      ])
    // The list of the sample over a transport without a server.
    var configuration = client.configuration
    configuration.clock = .immediate
    return Shop(client: NetworkClient(configuration: configuration, transport: mock))
  }

  private var keys: Set<String?> { Set(mock.sent.map { $0.headers["Idempotency-Key"] }) }

  @Test func `a lost response is followed by a second attempt with the same key`() async throws {
    mock.on(.post, "payments").fail(.connectionLost).respond(201, jsonText: #"{"id":1}"#)
    let shop = shop()
    try await shop.checkOut(order)
    #expect(shop.journal.entries == ["paid: 1"])
    #expect(mock.sent.count == 2)
    #expect(keys == [order.paymentKey])
  }

  @Test func `an attempt waits until the first one has been carried out`() async throws {
    mock.on(.post, "payments").fail(.connectionLost).respond(409).respond(201, jsonText: #"{"id":1}"#)
    let shop = shop()
    try await shop.checkOut(order)
    #expect(shop.journal.entries == ["paid: 1"])
    #expect(mock.sent.count == 3)
    #expect(keys == [order.paymentKey])
  }

  @Test func `a stored failure is not requested a third time`() async throws {
    mock.on(.post, "payments").respond(500).times(1).respond(500, headers: ["Idempotent-Replayed": "true"])
    let shop = shop()
    try await shop.checkOut(order)
    #expect(mock.sent.count == 2)
    #expect(shop.journal.entries == ["We are checking your payment."])
  }

  @Test func `a refusal is final`() async throws {
    mock.on(.post, "payments").respond(402)
    let shop = shop()
    try await shop.checkOut(order)
    #expect(mock.sent.count == 1)
    #expect(shop.journal.entries == ["The card was declined."])
  }

  @Test func `a payment that cannot have arrived may be tried again`() async throws {
    mock.on(.post, "payments").fail(.cannotConnect)
    let shop = shop()
    try await shop.checkOut(order)
    #expect(shop.journal.entries == ["Nothing was paid. Try again."])
  }
}
