import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited(to: .seconds(120))) struct TransportCancellationTests {
  @Test(arguments: [LoopbackPoint.request, .head(after: 20), .body, .body(after: 3)])
  func `cancelling ends a send at once, wherever it is, and closes its connection`(point: LoopbackPoint) async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .text("hello").held(by: gate, at: point) }
    let transport = URLSessionTransport()
    let send = Task { try await transport.send(server.request()) }
    await gate.waitForArrivals(1)
    send.cancel()
    await #expect(throws: CancellationError.self) { try await send.value }
    await server.waitForConnections(atMost: 0)
    gate.open()
    #expect(try await transport.send(server.request()).text == "hello")
  }

  @Test func `cancelling ends a send whose body is being sent`() async throws {
    let server = try LoopbackServer { _ in .status(200) }
    let accepted = LoopbackGate()
    server.enqueue(.status(200).held(by: accepted, at: .accept))
    let transport = URLSessionTransport()
    let body = RequestBody.data(Data(count: 32 << 20))
    let send = Task { try await transport.send(server.request(.post, body: body)) }
    await accepted.waitForArrivals(1)
    send.cancel()
    await #expect(throws: CancellationError.self) { try await send.value }
  }

  @Test func `a cancelled send does not cancel another`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .text("hello").held(by: gate) }
    let transport = URLSessionTransport()
    let (first, second) = (
      Task { try await transport.send(server.request()) }, Task { try await transport.send(server.request()) }
    )
    await gate.waitForArrivals(2)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    gate.open()
    #expect(try await second.value.text == "hello")
  }

  /// In real time and at random (from a seed), because it is the moments between the platform's steps that must be hit:
  /// with the wrong order of calls, URLSession on Linux freezes or ends the process after a few of these.
  @Test
  func `4,500 sends that are cancelled at random moments end with the right outcome`() async throws {
    let server = try LoopbackServer(options: .init(recordsRequests: false)) { Storm.answer($0) }
    let transport = URLSessionTransport()
    let outcomes = await withTaskGroup(of: [Storm.Outcome].self) { group in
      for lane in 0..<30 {
        group.addTask { await Storm(server, transport, seed: UInt64(lane)).run(150) }
      }
      return await group.reduce(into: [Storm.Outcome]()) { $0 += $1 }
    }
    #expect(outcomes.count == 4_950, "450 were not cancelled")
    #expect(outcomes.filter { $0 == .failed } == [])
    #expect(outcomes.filter { $0 == .cancelled }.count > 500)
    #expect(outcomes.filter { $0 == .answered }.count > 300)
    #expect(try await transport.send(server.request()).text == "hello")
    await transport.shutdown()
    await server.waitForConnections(atMost: 0)
  }

  @Test
  func `a shutdown ends each send, whatever its phase`() async throws {
    for round in 0..<20 {
      let server = try LoopbackServer(options: .init(recordsRequests: false)) { Storm.answer($0) }
      let transport = URLSessionTransport()
      await withTaskGroup(of: Storm.Outcome.self) { group in
        for lane in 0..<20 {
          group.addTask { await Storm(server, transport, seed: UInt64(round * 20 + lane)).send(cancels: lane % 3 == 0) }
        }
        group.addTask {
          await server.waitForRequests(round / 2)
          await transport.shutdown()
          return .answered
        }
        for await outcome in group { #expect(outcome != .failed) }
      }
      #expect(try await transport.failure(of: server.request()).code == .clientShutDown)
    }
  }
}

/// Sends of all kinds, cancelled at random moments.
private struct Storm {
  enum Outcome { case answered, cancelled, lost, failed }

  private let server: LoopbackServer
  private let transport: URLSessionTransport
  private let seed: UInt64

  init(_ server: LoopbackServer, _ transport: URLSessionTransport, seed: UInt64) {
    self.server = server
    self.transport = transport
    self.seed = seed
  }

  static func answer(_ request: LoopbackRequest) -> LoopbackResponse {
    switch request.path {
    case "/redirect": .redirect(to: "/")
    case "/challenge": .text("who?", status: 401).header("WWW-Authenticate", "Basic realm=\"x\"")
    case "/slow": .text("hello").delayed(by: .milliseconds(8))
    case "/long": .data(Data(repeating: 1, count: 16_384), repeated: 32)
    case "/lost": .text("hello").fault(.reset, at: .body(after: 2))
    case "/silent": .text("hello").fault(.stall, at: .request)
    default: .text("hello")
    }
  }

  private static let paths = ["", "redirect", "redirect", "challenge", "slow", "long", "lost", "silent", "", ""]

  func run(_ count: Int) async -> [Outcome] {
    var random = SeededGenerator(seed: seed)
    var outcomes: [Outcome] = []
    for number in 0..<count {
      outcomes.append(await send(cancels: true, &random))
      if number % 10 == 0 { outcomes.append(await send(cancels: false, &random)) }
    }
    return outcomes
  }

  func send(cancels: Bool) async -> Outcome {
    var random = SeededGenerator(seed: seed)
    return await send(cancels: cancels, &random)
  }

  private func send(cancels: Bool, _ random: inout SeededGenerator) async -> Outcome {
    let paths = cancels ? Storm.paths : Storm.paths.filter { $0 != "silent" }
    let path = paths.randomElement(using: &random) ?? ""
    let body: RequestBody? = path.isEmpty && Bool.random(using: &random) ? .data(Data("hello".utf8)) : nil
    let method: RequestMethod = body == nil && Int.random(in: 0..<8, using: &random) > 0 ? .get : .post
    let request = server.request(method, path, body: body)
    let send = Task { try await transport.send(request) }
    if cancels {
      // Real time: the cancellation has to come wherever the platform is by then.
      try? await RequestClock.system.sleep(for: .microseconds(Int.random(in: 500...12_000, using: &random)))
      send.cancel()
    }
    switch await send.result {
    case .success(let response): return isExpected(response, path) ? .answered : .failed
    case .failure(is CancellationError): return .cancelled
    case .failure(let error as NetworkError) where error.code == .clientShutDown: return .cancelled
    case .failure(let error as NetworkError) where path == "lost" && error.code == .connectionLost: return .lost
    case .failure(let error):
      Issue.record(error, "\(method) /\(path), seed \(seed)")
      return .failed
    }
  }

  private func isExpected(_ response: NetworkResponse, _ path: String) -> Bool {
    switch path {
    case "redirect": response.statusCode == 302
    case "challenge": response.statusCode == 401 && (try? response.text) == "who?"
    case "long": (try? response.data.count) == 524_288
    default: (try? response.text) == "hello"
    }
  }
}
