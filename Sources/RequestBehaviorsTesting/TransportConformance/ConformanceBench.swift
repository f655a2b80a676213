import Foundation
import RequestBehaviors

/// The tools of a case of ``TransportConformance``: a server, a clock, a transport, and checks.
struct ConformanceBench: ConformanceChecks {
  let server: LoopbackServer
  let clock: ManualClock
  let transport: any Transport
  private let makeTransport: TransportConformance.Factory

  init(_ makeTransport: @escaping TransportConformance.Factory) async throws {
    self.makeTransport = makeTransport
    server = try LoopbackServer()
    clock = ManualClock()
    transport = try await makeTransport(clock.requestClock)
  }

  /// Returns a request to the server whose call follows the clock.
  func request(
    _ method: RequestMethod = .get, _ target: String = "", headers: HeaderFields = [:], body: RequestBody? = nil,
    _ change: (inout RequestOptions) -> Void = { _ in }
  ) throws -> NetworkRequest {
    try request(method, url: server.baseURL.absoluteString + target, headers: headers, body: body, change)
  }

  /// Returns a request whose call follows the clock.
  func request(
    _ method: RequestMethod = .get, url text: String, headers: HeaderFields = [:], body: RequestBody? = nil,
    _ change: (inout RequestOptions) -> Void = { _ in }
  ) throws -> NetworkRequest {
    guard let url = URL(string: text) else { throw TransportConformance.Failure("\(text) is not a URL") }
    var options = RequestOptions()
    change(&options)
    return NetworkRequest(
      method, url: url, headers: headers, body: body, options: options,
      call: Call(clock: clock.requestClock, options: options))
  }

  /// Returns another transport.
  func anotherTransport() async throws -> any Transport { try await makeTransport(clock.requestClock) }

  /// Sends a request whose response is streamed.
  func stream(
    _ request: NetworkRequest? = nil, over transport: (any Transport)? = nil
  ) async throws -> NetworkResponse {
    var streamed = try request ?? self.request()
    streamed.options.delivery = .streamed
    return try await (transport ?? self.transport).send(streamed)
  }

  /// Sends a request and returns its response with the body in memory.
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try await transport.send(request).buffered()
  }

  /// Sends a request and returns it as the server received it.
  func received(_ request: NetworkRequest) async throws -> LoopbackRequest {
    server.enqueue(.status(200))
    let count = server.requestCount
    _ = try await send(request)
    let requests = server.requests
    try equal(requests.count, count + 1, "requests at the server for one send")
    guard let last = requests.last else { throw TransportConformance.Failure("the server got no request") }
    return last
  }

  // MARK: - Checks

  /// Sends a request that must fail with one of the codes.
  func failure(
    of request: NetworkRequest, _ codes: NetworkError.Code..., because reason: String
  ) async throws {
    try await failure(codes, because: reason) { try await send(request) }
  }

  /// Awaits a task that must fail with one of the codes.
  func failure(
    _ codes: [NetworkError.Code], because reason: String, of work: () async throws -> NetworkResponse
  ) async throws {
    let wanted = "a NetworkError of code \(codes.map(\.rawValue).joined(separator: " or ")) because \(reason)"
    let response: NetworkResponse
    do {
      response = try await work()
    } catch let error as NetworkError {
      return try hold(codes.contains(error.code), "the error is \(error), wanted \(wanted)")
    } catch {
      throw TransportConformance.Failure("the error is \(type(of: error)) \(error), wanted \(wanted)")
    }
    throw TransportConformance.Failure("the response is \(response), wanted \(wanted)")
  }

  /// Awaits a task that must end with a cancellation.
  func cancellation(_ task: Task<NetworkResponse, any Error>) async throws {
    switch await task.result {
    case .success(let response):
      throw TransportConformance.Failure("the response is \(response), wanted a cancellation")
    case .failure(is CancellationError): return
    case .failure(let error):
      throw TransportConformance.Failure("the error is \(type(of: error)) \(error), wanted a CancellationError")
    }
  }

  /// Sends a request while the clock advances by a second for each wait, and returns the response.
  func sendWhileTimePasses(_ request: NetworkRequest) async throws -> NetworkResponse {
    let time = Task { [clock] in
      while !Task.isCancelled {
        await clock.waitForSleepers(1)
        if !Task.isCancelled { clock.advance(by: .seconds(1)) }
        await Task.yield()
      }
    }
    defer { time.cancel() }
    return try await send(request)
  }
}
