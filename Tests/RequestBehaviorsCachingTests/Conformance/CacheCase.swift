import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A conversation with a cache, and what a cache has to do in it.
///
/// The conversations are those of the public conformance suite for HTTP caches (github.com/http-tests/cache-tests), as far
/// as they are about a private cache, told in few words.
struct CacheCase: CustomTestStringConvertible, Sendable {
  enum Kind: Sendable { case required, optional }

  let name: String
  let kind: Kind
  let steps: [Step]

  var testDescription: String { name }

  /// A request, what the server has ready for it, and what is expected.
  struct Step: Sendable {
    var method: RequestMethod = .get
    var path = "resource"
    var asks: HeaderFields = [:]
    var mode = CachingMode.standard
    var status = 200
    var says: [(String, Value)] = []
    var body = "body"
    /// Whether the connection fails.
    var disconnects = false
    /// Seconds that pass after it.
    var pause = 0
    var expects: Expectation?
    var expectedStatus: Int?
    var expectedBody: String?
    /// The fields that the response must have.
    var has: [(String, Value)] = []
    /// The fields that the response must not have.
    var lacks: [String] = []
    /// The fields that the server must have received.
    var sends: HeaderFields = [:]
  }

  /// The value of a field: a text, or a date so many seconds from when the message is made.
  enum Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, Sendable {
    case text(String)
    case date(Int)
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .date(value) }

    func text(at now: Date) -> String {
      switch self {
      case .text(let text): text
      case .date(let offset): HTTPDate.text(of: now.addingTimeInterval(Double(offset)))
      }
    }
  }

  /// Where a response has to come from.
  enum Expectation: Sendable {
    case cached, notCached
    /// The server is asked whether what is stored is good, and says that it is.
    case etagValidated, dateValidated
    /// The server is not asked, or fails, and the request fails.
    case failure
  }

  init(_ name: String, _ kind: Kind = .required, _ steps: Step...) {
    self.init(name, kind, steps: steps)
  }

  init(_ name: String, _ kind: Kind, steps: [Step]) {
    self.name = name
    self.kind = kind
    self.steps = steps
  }
}

extension CacheCase.Step {
  /// A request whose response is given.
  static func get(_ says: [(String, CacheCase.Value)] = [], asks: HeaderFields = [:], pause: Int = 3) -> Self {
    Self(asks: asks, says: says, pause: pause)
  }

  static func cached(asks: HeaderFields = [:]) -> Self { Self(asks: asks, expects: .cached) }
  static func notCached(asks: HeaderFields = [:]) -> Self { Self(asks: asks, expects: .notCached) }

  func with(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}

// MARK: - Running

/// Runs a conversation and tells the first thing that went wrong.
struct CacheCaseRunner {
  private let clock = ManualClock(date: Date(timeIntervalSince1970: 1_767_225_600))

  /// - Returns: What went wrong; `nil` if nothing did.
  func run(_ test: CacheCase) async throws -> String? {
    let current = Box<CacheCase.Step?>(nil)
    let arrived = Box<[NetworkRequest]>([])
    let clock = clock
    let transport = ClosureTransport { request in
      arrived.update { $0.append(request) }
      guard let step = current.value else { return NetworkResponse(request: request, statusCode: 500) }
      return try Self.respond(step, to: request, at: clock.date)
    }
    // The rules of a disconnected cache depend on it: a stale response may replace the failure.
    let policy = CachePolicy(staleIfError: .seconds(86_400))
    var configuration = RequestConfiguration(
      baseURL: baseURL, behaviors: [.caching(MemoryCacheStore(), policy: policy)])
    configuration.clock = clock.requestClock
    configuration.options.acceptableStatuses = .all
    configuration.options.redirects = .none
    let client = NetworkClient(configuration: configuration, transport: transport)

    for (index, step) in test.steps.enumerated() {
      current.value = step
      let before = arrived.value.count
      let response = try? await client.send(Self.request(step))
      let asked = Array(arrived.value.dropFirst(before))
      if let problem = problem(step, response, asked) { return "step \(index + 1): \(problem)" }
      clock.advance(by: .seconds(step.pause))
    }
    return nil
  }

  private static func request(_ step: CacheCase.Step) -> Request<NetworkResponse> {
    let hasBody = !step.method.forbidsBody && step.method != .head
    return Request(
      step.method, RequestPath(encoded: step.path), headers: step.asks, body: hasBody ? .text("abc") : nil
    ).with(\.caching, step.mode)
  }

  private static func respond(
    _ step: CacheCase.Step, to request: NetworkRequest, at now: Date
  ) throws -> NetworkResponse {
    if step.disconnects { throw NetworkError(.connectionLost, "the test's server closes the connection") }
    let headers = HeaderFields(step.says.map { HeaderFields.Field($0.0, $0.1.text(at: now)) })
    let isConfirmed =
      switch step.expects {
      case .etagValidated: request.headers.contains("If-None-Match")
      case .dateValidated: request.headers.contains("If-Modified-Since")
      default: false
      }
    let hasBody = !isConfirmed && request.method != .head && step.status != 204
    return NetworkResponse(
      request: request, statusCode: isConfirmed ? 304 : step.status, headers: headers,
      body: hasBody ? .data(Data(step.body.utf8)) : .empty)
  }

  private func problem(_ step: CacheCase.Step, _ response: NetworkResponse?, _ asked: [NetworkRequest]) -> String? {
    switch step.expects {
    case .cached where !asked.isEmpty: return "the server was asked"
    case .notCached where asked.isEmpty: return "the server was not asked"
    case .etagValidated where asked.first?.headers.contains("If-None-Match") != true: return "no If-None-Match was sent"
    case .dateValidated where asked.first?.headers.contains("If-Modified-Since") != true:
      return "no If-Modified-Since was sent"
    case .etagValidated where asked.count != 1, .dateValidated where asked.count != 1: return "the 304 was not enough"
    case .failure: return response == nil || response?.source == .network ? nil : "a response came from the cache"
    default: break
    }
    for field in step.sends where asked.first?.headers[field.name] != field.value {
      return "\(field.name) was not sent"
    }
    guard let response else { return "the request failed" }
    if let status = step.expectedStatus, response.statusCode != status { return "the status is \(response.statusCode)" }
    if let body = step.expectedBody, (try? response.text) != body { return "the body is another" }
    for (name, value) in step.has where !has(response, name, value) {
      return "\(name) is \(response.headers[name] ?? "missing")"
    }
    for name in step.lacks where response.headers.contains(name) { return "\(name) is there" }
    return nil
  }

  /// Whether a response has a field; an age has to be at least so much.
  private func has(_ response: NetworkResponse, _ name: String, _ expected: CacheCase.Value) -> Bool {
    guard let value = response.headers[name] else { return false }
    if name == "Age", case .date(let least) = expected { return (Int(value) ?? -1) >= least }
    return value == expected.text(at: clock.date)
  }
}
