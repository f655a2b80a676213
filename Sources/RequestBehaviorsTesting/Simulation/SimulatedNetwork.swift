import Foundation
public import RequestBehaviors

/// The network of a simulation: servers by host, delays, and troubles.
///
/// Servers are closures that run on the simulation's thread, so their state needs no lock.
public final class SimulatedNetwork: @unchecked Sendable {
  // Unchecked, because only the simulation's thread uses it.

  /// The troubles that a request may meet.
  public struct Troubles: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Creates a set of its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The connection is refused: the server sees nothing.
    public static let refused = Troubles(rawValue: 1 << 0)
    /// The connection is lost before the server acts.
    public static let lostBefore = Troubles(rawValue: 1 << 1)
    /// The connection is lost after the server has acted.
    public static let lostAfter = Troubles(rawValue: 1 << 2)
    /// The response is cut within its body.
    public static let cut = Troubles(rawValue: 1 << 3)
    /// The response takes 5 to 60 seconds longer.
    public static let slow = Troubles(rawValue: 1 << 4)
    /// No response comes, though the server has acted.
    public static let stalled = Troubles(rawValue: 1 << 5)
    /// A proxy answers with 502, 503 or 504; half of the time the server has acted.
    public static let serverError = Troubles(rawValue: 1 << 6)
    /// A proxy answers with 429 and `Retry-After`.
    public static let tooManyRequests = Troubles(rawValue: 1 << 7)
    /// The network delivers a GET, HEAD, PUT or DELETE twice.
    public static let repeated = Troubles(rawValue: 1 << 8)
    /// A captive portal answers with 200 and a page of its own.
    public static let portal = Troubles(rawValue: 1 << 9)

    /// All troubles but a portal, which clients only notice that verify responses.
    public static let all: Troubles = [
      .refused, .lostBefore, .lostAfter, .cut, .slow, .stalled, .serverError, .tooManyRequests, .repeated,
    ]

    static let names: [(Troubles, String)] = [
      (.refused, "refused"), (.lostBefore, "lostBefore"), (.lostAfter, "lostAfter"), (.cut, "cut"), (.slow, "slow"),
      (.stalled, "stalled"), (.serverError, "serverError"), (.tooManyRequests, "tooManyRequests"),
      (.repeated, "repeated"), (.portal, "portal"),
    ]
  }

  /// The troubles of all hosts that have none of their own; none by default.
  public var troubles: Troubles = []
  /// The share of requests with which something goes wrong; 0.2 by default.
  public var troubleRate = 0.2
  /// The longest time that a request or a response takes on its way; 200 milliseconds by default.
  public var latency: Duration = .milliseconds(200)
  /// Sees each request at the moment at which a client hands it to the network, before anything can go wrong.
  public var onSend: (NetworkRequest) -> Void = { _ in }

  private var servers: [String: (NetworkRequest) -> SimulatedResponse] = [:]
  private var hostTroubles: [String: Troubles] = [:]
  private var counts: [String: Int] = [:]
  private var transports: [MockTransport] = []
  private let seed: UInt64
  private let isIncluded: (String) -> Bool
  private let log: (String) -> Void

  init(seed: UInt64, isIncluded: @escaping (String) -> Bool, log: @escaping (String) -> Void) {
    self.seed = seed
    self.isIncluded = isIncluded
    self.log = log
  }

  /// Adds a server.
  ///
  /// - Parameters:
  ///   - host: Its host, without a port.
  ///   - troubles: What may go wrong with its requests; by default ``troubles``.
  ///   - server: Returns the response to a request, whose body is in memory.
  public func serve(
    _ host: String, troubles: Troubles? = nil, _ server: @escaping (NetworkRequest) -> SimulatedResponse
  ) {
    servers[host] = server
    hostTroubles[host] = troubles
  }

  /// Makes the transport of a client.
  func makeTransport() -> MockTransport {
    // A task that continues after its run has failed may still send.
    let transport = MockTransport(forgetting: { [weak self] request in
      guard let self else { throw CancellationError() }
      return try await respond(to: request)
    })
    transports.append(transport)
    return transport
  }

  /// The requests whose streamed responses were neither read to their end nor cancelled.
  var openStreams: [NetworkRequest] { transports.flatMap(\.openStreamRequests) }

  // MARK: - A request's way

  private func respond(to request: NetworkRequest) async throws -> NetworkResponse {
    let host = request.url.host() ?? ""
    let name = "\(request.method) \(host)\(request.url.path())"
    counts[name, default: 0] += 1
    var random = SimulatedRandom(seed: seed, name: "\(name) \(counts[name, default: 0])")
    let trouble = drawTrouble(hostTroubles[host] ?? troubles, using: &random)
    let way = Way(
      network: self, request: request, name: "\(name) #\(counts[name, default: 0])", sentAt: request.call.clock.now())
    onSend(request)
    log("\(way.name) sent by call \(way.caller)\(trouble.map { ", trouble: \($0.name)" } ?? "")")
    guard let server = servers[host] else {
      throw way.failure(.dnsFailed, "no server of the simulation has the host \(host)", .notSent)
    }
    return try await respond(to: way, server, trouble?.trouble, &random)
  }

  private func drawTrouble(
    _ troubles: Troubles, using random: inout SimulatedRandom
  ) -> (trouble: Troubles, name: String)? {
    let possible = Troubles.names.filter { troubles.contains($0.0) }
    let isTrouble = random.chance(troubleRate)
    let place = random.next()
    guard isTrouble, !possible.isEmpty else { return nil }
    let (trouble, name) = possible[Int(place % UInt64(possible.count))]
    return isIncluded("trouble \(name)") ? (trouble, name) : nil
  }

  private func respond(
    to way: Way, _ server: (NetworkRequest) -> SimulatedResponse, _ trouble: Troubles?, _ random: inout SimulatedRandom
  ) async throws -> NetworkResponse {
    try await way.pass(latency(using: &random))
    let proxyActs = random.chance(0.5)
    let status = [502, 503, 504][Int(random.next() % 3)]
    switch trouble {
    case .refused?: throw way.failure(.cannotConnect, "the connection was refused", .notSent)
    case .lostBefore?: throw way.failure(.connectionLost, "the connection was lost", .sent)
    case .portal?: return try await way.deliver(SimulatedNetwork.portalPage, cutting: false)
    case .tooManyRequests?:
      return try await way.deliver(.status(429, headers: ["Retry-After": "2"]), cutting: false)
    case .serverError? where !proxyActs: return try await way.deliver(.status(status), cutting: false)
    default: break
    }
    var response = server(way.request)
    log("\(way.name) reached its server: \(response.statusCode)")
    if trouble == .repeated, ["GET", "HEAD", "PUT", "DELETE"].contains(way.request.method.rawValue) {
      response = server(way.request)
    }
    try await way.pass(response.delay + latency(using: &random))
    switch trouble {
    case .lostAfter?: throw way.failure(.connectionLost, "the connection was lost", .sent)
    case .serverError?: return try await way.deliver(.status(status), cutting: false)
    case .slow?: try await way.pass(.milliseconds(Int64.random(in: 5_000...60_000, using: &random)))
    case .stalled?: try await way.stall()
    default: break
    }
    return try await way.deliver(response, cutting: trouble == .cut)
  }

  /// Returns a time that can be counted in microseconds: not negative, and at most about 30 years.
  static func bounded(_ time: Duration) -> Duration { min(max(time, .zero), .seconds(1_000_000_000)) }

  private func latency(using random: inout SimulatedRandom) -> Duration {
    let parts = SimulatedNetwork.bounded(latency).components
    let longest = max(1, parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000)
    return .microseconds(Int64.random(in: 1...longest, using: &random))
  }

  private static let portalPage = SimulatedResponse.status(
    200, headers: ["Content-Type": "text/html"], text: "<html>Welcome to the airport's network</html>")

  /// Ends all troubles, for what must work when the network is well.
  func endTroubles() {
    troubles = []
    hostTroubles = [:]
  }

  func note(_ line: String) { log(line) }
}

/// One request on its way over a simulated network.
private struct Way {
  let network: SimulatedNetwork
  let request: NetworkRequest
  let name: String
  let sentAt: Duration

  /// The call that sends, by its number in the simulation rather than in the process.
  var caller: String { SimulatedWorld.currentCallName ?? "of the library" }

  /// Waits, but no longer than the request's times allow: until its response comes, it is silent.
  func pass(_ duration: Duration) async throws {
    let clock = request.call.clock
    let limit = [request.idleTimeout, request.timeout].compactMap(\.self).min()
    let left = limit.map { max(.zero, sentAt + $0 - clock.now()) }
    guard let limit, let left, left <= duration else { return try await clock.sleep(for: duration) }
    try await clock.sleep(for: left)
    throw failure(.timedOut, "no response came within \(limit)", .sent)
  }

  /// Waits for what never comes: a day, where the request sets no times.
  func stall() async throws {
    try await pass(.seconds(86_400))
    throw failure(.timedOut, "no response came within a day", .sent)
  }

  func failure(
    _ code: NetworkError.Code, _ message: String, _ stage: NetworkError.Progress.Stage
  ) -> NetworkError {
    network.note("\(name) failed: \(code)")
    var error = NetworkError(code, message, request: request)
    error.progress = NetworkError.Progress(stage, reusedConnection: false)
    return error
  }

  /// Returns the response, with a body as it arrives.
  func deliver(_ response: SimulatedResponse, cutting: Bool) async throws -> NetworkResponse {
    network.note("\(name) gets \(response.statusCode)\(cutting ? ", cut" : "")")
    let message = try SimulatedMessage(response, to: request)
    var steps: [MockStreamStep] = []
    for (index, chunk) in message.chunks.enumerated() {
      if index > 0, response.pause > .zero { steps.append(.wait(response.pause)) }
      let isLast = index == message.chunks.count - 1
      steps.append(.chunk(cutting && isLast ? chunk.prefix(chunk.count / 2) : chunk))
    }
    let isCut = cutting && !message.isBodiless
    if let problem = isCut ? "the connection was lost within the body" : message.missing {
      var error = NetworkError(.truncatedBody, problem, request: request)
      error.progress = NetworkError.Progress(.headReceived)
      steps.append(.fail(error))
    }
    let stream = MockStream(
      steps, status: response.statusCode, trailers: nil, to: request, sentAt: sentAt)
    let now = request.call.clock.now()
    return NetworkResponse(
      request: request, statusCode: response.statusCode, headers: message.headers, body: .stream(stream.byteStream),
      timings: ResponseTimings(sent: sentAt, firstByte: now, lastByte: nil), source: .mock)
  }
}
