import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited, .enabled(if: Simulation.isAvailable))
struct SimulatedMessageTests {
  /// A request and the status and `Content-Length` of its response, whose body has ten bytes.
  struct Exchange: Sendable, CustomTestStringConvertible {
    var method = RequestMethod.get
    var status = 200
    var length: String?

    var testDescription: String { "\(method) \(status) \(length ?? "without a length")" }
  }

  static let exchanges =
    [nil, "10", "15", "5", "0", "abc", "-1", "+5", "5, 5", "5, 6", " 10 "].map { Exchange(length: $0) }
    + [Exchange(method: .head), Exchange(method: .head, length: "15"), Exchange(status: 204), Exchange(status: 404)]

  @Test(arguments: exchanges)
  func `a simulated response is framed as one of a real server`(exchange: Exchange) async throws {
    let headers = HeaderFields(exchange.length.map { [HeaderFields.Field("Content-Length", $0)] } ?? [])
    let server = try LoopbackServer { _ in
      LoopbackResponse(status: exchange.status, headers: headers, body: Data("0123456789".utf8))
    }
    let real = await outcome(exchange.method, NetworkClient(baseURL: server.baseURL, transport: URLSessionTransport()))
    let simulated = Box("nothing")
    try await Simulation(seed: 1) { world in
      world.network.serve("shop.example") { _ in .status(exchange.status, headers: headers, text: "0123456789") }
      let client = world.client(baseURL: URL(string: "https://shop.example")!)
      world.call("asks") { simulated.value = await outcome(exchange.method, client) }
    }.run()
    #expect(simulated.value == real)
  }

  @Test func `the length of an encoded body does not cut the decoded one`() async throws {
    let body = Box("")
    try await Simulation(seed: 1) { world in
      world.network.serve("shop.example") { _ in
        .status(200, headers: ["Content-Encoding": "gzip", "Content-Length": "3"], text: "decoded")
      }
      let client = world.client(baseURL: URL(string: "https://shop.example")!)
      world.call("asks") { body.value = try await client.send(Request<String>.get("x")) }
    }.run()
    #expect(body.value == "decoded")
  }

  @Test func `a simulated stream that stalls had its head`() async throws {
    let stage = Box<NetworkError.Progress.Stage?>(nil)
    try await Simulation(seed: 1) { world in
      world.network.serve("shop.example") { _ in .stream(["a", "b"], every: .seconds(60)) }
      let client = world.client(baseURL: URL(string: "https://shop.example")!) { $0.options.idleTimeout = .seconds(5) }
      world.call("asks") {
        do {
          for try await _ in try await client.stream(.get("events")).bytes {}
        } catch let error as NetworkError {
          stage.value = error.progress?.stage
        }
      }
    }.run()
    #expect(stage.value == .headReceived)
  }

  /// Returns what a caller gets of a response.
  private func outcome(_ method: RequestMethod, _ client: NetworkClient) async -> String {
    do {
      let response = try await client.send(
        Request<NetworkResponse>(method, "x").with(\.acceptableStatuses, StatusCodes(200...499)))
      guard case .data(let body) = response.body else { return "a stream" }
      let length = response.headers[.contentLength] ?? "no length"
      return "\(response.statusCode), \(length): \(String(decoding: body, as: UTF8.self))"
    } catch {
      return (error as? NetworkError).map { "\($0.code)" } ?? "\(error)"
    }
  }
}
