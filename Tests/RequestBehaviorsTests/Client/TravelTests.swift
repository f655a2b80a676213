import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// The promises of "How a request travels".
@Suite(.limited) struct TravelTests {
  let journal = Journal()

  private func behavior(_ name: String, _ order: BehaviorOrder = .middle) -> JournalBehavior {
    JournalBehavior(name: name, journal: journal, order: order)
  }

  // MARK: The list

  @Test func `a request goes down the list and its response comes back up in reverse`() async throws {
    let client = NetworkClient(ClosureTransport(), [behavior("inner", .last), behavior("outer", .first)])
    try await client.send(.get("x"))
    #expect(
      journal.entries == [
        "outer.interceptBefore", "outer.headers", "outer.modify", "outer.beforeSend",
        "inner.interceptBefore", "inner.headers", "inner.modify", "inner.beforeSend",
        "inner.afterSuccess", "inner.interceptAfter",
        "outer.afterSuccess", "outer.interceptAfter",
      ])
  }

  // MARK: Promise 3

  @Test func `promise 3: a behavior that calls next again runs everything further in again`() async throws {
    let count = Box(0)
    let transport = ClosureTransport(statuses: [503, 200])
    let again = ClosureBehavior("again", order: .retry) { request, next in
      let first = try await next(request)
      return first.statusCode == 503 ? try await next(request) : first
    }
    let stamp = ClosureBehavior(
      "stamp",
      headers: { _ in
        let number = count.update { count in
          count += 1
          return count
        }
        return ["X-Stamp": "\(number)"]
      })
    try await NetworkClient(transport, [again, stamp, behavior("inner")]).send(.get("x"))
    #expect(transport.sent.map { $0.headers["X-Stamp"] } == ["1", "2"])
    #expect(transport.sent.map(\.attemptNumber) == [1, 2])
    #expect(journal.count(of: "inner.beforeSend") == 2)
  }

  // MARK: Promise 1

  @Test func `promise 1: next returns every status, and the hooks and the caller get verdicts`() async throws {
    let seen = Box<[Int]>([])
    let errors = Box<[NetworkError.Code]>([])
    let watch = ClosureBehavior(
      "watch",
      afterFailure: { error, _ in errors.update { $0.append((error as? NetworkError)?.code ?? .timedOut) } },
      intercept: { request, next in
        let response = try await next(request)
        seen.update { $0.append(response.statusCode) }
        return response
      })
    let client = NetworkClient(ClosureTransport(404, "gone"), [watch])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(seen.value == [404])
    #expect(errors.value == [.unacceptableStatus])
    #expect(error?.code == .unacceptableStatus)
    #expect(error?.statusCode == 404)
    #expect(try error?.response?.text == "gone")
  }

  @Test func `promise 1: the request decides which statuses are acceptable, and decides once`() async throws {
    let widen = ClosureBehavior("widen", order: .first, modify: { $0.options.acceptableStatuses = .all })
    let client = NetworkClient(ClosureTransport(404), [widen, behavior("inner")])
    await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    try await client.send(.get("x").with(\.acceptableStatuses, .success.union([404])))
    #expect(journal.count(of: "inner.afterFailure") == 1)
    #expect(journal.count(of: "inner.afterSuccess") == 1)
  }

  @Test func `promise 1: a 304 is acceptable to a conditional request only`() async throws {
    let client = NetworkClient(ClosureTransport(304))
    await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    try await client.send(.get("x", headers: ["If-None-Match": "\"1\""]))
  }

  @Test(arguments: [RequestMethod.put, .post, .patch, .delete])
  func `promise 1: a 304 is acceptable to no request that changes something`(method: RequestMethod) async throws {
    let client = NetworkClient(ClosureTransport(304))
    let request = Request<Void>(method, "x", headers: ["If-None-Match": "*"])
    let error = try await #require(throws: NetworkError.self) { try await client.send(request) }
    #expect(error.code == .unacceptableStatus)
    #expect(error.statusCode == 304)
  }

  @Test(arguments: ["bytes 0-3/9", "bytes 5-8/9", "bytes 0-3/*"])
  func `promise 1: a part of the content is not acceptable to a request for all of it`(range: String) async throws {
    let client = NetworkClient(ClosureTransport(206, "part", headers: ["Content-Range": range]))
    let error = try await #require(throws: NetworkError.self) {
      try await client.send(.get("x").returning(String.self))
    }
    #expect(error.code == .unacceptableStatus)
    #expect(error.message.contains("206: it sent a part of the content where all of it was asked for"))
    let request = Request<String>.get("x", headers: ["Range": "bytes=0-3"])
    #expect(try await client.send(request) == "part")
  }

  @Test(arguments: [nil, "bytes 0-3/4", "items 0-3/9"])
  func `promise 1: a 206 without missing bytes is acceptable`(range: String?) async throws {
    var headers = HeaderFields()
    headers["Content-Range"] = range
    let client = NetworkClient(ClosureTransport(206, "list", headers: headers))
    #expect(try await client.send(.get("x").returning(String.self)) == "list")
  }

  // MARK: The list

  @Test func `a behavior's field replaces another behavior's, the request's own wins`() async throws {
    let transport = ClosureTransport()
    let first = ClosureBehavior("1", headers: { _ in ["A": "first", "B": "first"] })
    let second = ClosureBehavior("2", headers: { _ in ["a": "second"] })
    let client = NetworkClient(transport, [first, second])
    try await client.send(.get("x", headers: ["B": "user"]))
    #expect(transport.sent[0].headers.values(for: "A") == ["second"])
    #expect(transport.sent[0].headers.values(for: "B") == ["user"])
  }

  @Test(arguments: [BehaviorOrder.middle, .outside(.authentication), .authentication, .signing])
  func `a field set in modify replaces the request's own field, at any place`(order: BehaviorOrder) async throws {
    let transport = ClosureTransport()
    let sign = ClosureBehavior("sign", order: order, modify: { $0.headers["Authorization"] = "behavior" })
    try await NetworkClient(transport, [sign]).send(.get("x", headers: ["Authorization": "user"]))
    #expect(transport.sent[0].headers.values(for: "Authorization") == ["behavior"])
  }

  @Test(arguments: [BehaviorOrder.inside(.authentication), .authentication, .outside(.authentication)])
  func `a password replaces the request's own field, wherever it is listed`(order: BehaviorOrder) async throws {
    let transport = ClosureTransport()
    let password = BasicAuthBehavior(user: "u", password: "p").ordered(order)
    try await NetworkClient(transport, [password]).send(.get("x", headers: ["Authorization": "user"]))
    #expect(transport.sent[0].headers.values(for: "Authorization") == ["Basic dTpw"])
  }

  // MARK: Promise 4

  @Test func `promise 4: no hook sees an error of building the request, the observer does`() async throws {
    let reports = Box<[CallReport]>([])
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [behavior("any")])
    configuration.behaviors.append(.onCallEnd { report in reports.update { $0.append(report) } })
    let client = NetworkClient(configuration: configuration, transport: ClosureTransport())
    await #expect(throws: NetworkError.self) { try await client.send(.post("x", body: .json(Double.infinity))) }
    await #expect(throws: NetworkError.self) { try await client.send(.get("../../x")) }
    #expect(journal.entries.isEmpty)
    #expect(reports.value.map(\.phase) == [.building, .building])
    #expect(reports.value.map { ($0.error as? NetworkError)?.code } == [.encodingFailed, .invalidURL])
  }

  @Test func `promise 4: no hook sees an error of decoding, the observer does`() async throws {
    let reports = Box<[CallReport]>([])
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [behavior("any")])
    configuration.behaviors.append(.onCallEnd { report in reports.update { $0.append(report) } })
    let client = NetworkClient(configuration: configuration, transport: ClosureTransport(200, "no JSON"))
    let error = await #expect(throws: NetworkError.self) { let _: Int = try await client.send(.get("x")) }
    #expect(error?.code == .decodingFailed)
    #expect(journal.entries.last == "any.interceptAfter")
    #expect(reports.value.map(\.phase) == [.decoding])
    #expect((reports.value[0].error as? NetworkError)?.code == .decodingFailed)
    #expect(reports.value[0].response?.statusCode == 200)
  }

  @Test func `an observer gets the success with the time that decoding took`() async throws {
    let reports = Box<[CallReport]>([])
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.behaviors.append(.onCallEnd { report in reports.update { $0.append(report) } })
    let client = NetworkClient(configuration: configuration, transport: ClosureTransport(200, "7"))
    let value: Int = try await client.send(.get("x"))
    #expect(value == 7)
    #expect(reports.value.map(\.phase) == [.finished])
    #expect(reports.value[0].error == nil)
  }

  /// Takes two seconds to read a response, and does not like those of status 202.
  private struct Slow: ResponseConvertible {
    init(_ response: NetworkResponse) async throws {
      try await response.request.call.clock.sleep(for: .seconds(2))
      if response.statusCode == 202 { throw Failure("202") }
    }
  }

  @Test func `promise 4: an error of a type that reads the response itself is reported as an error of decoding`()
    async throws
  {
    let reports = ReportKeeper()
    let client = NetworkClient(ClosureTransport(statuses: [202, 200]), LeapingClock().requestClock, [reports])
    await #expect(throws: Failure("202")) { let _: Slow = try await client.send(.get("x")) }
    let _: Slow = try await client.send(.get("x"))
    #expect(reports.all.map(\.phase) == [.decoding, .finished])
    #expect(reports.all.map { $0.error as? Failure } == [Failure("202"), nil])
    #expect(reports.all.map { $0.response?.statusCode } == [202, 200])
    #expect(reports.all.map(\.decoding) == [.seconds(2), .seconds(2)])
  }

  // MARK: Promise 5

  @Test func `promise 5: a call makes at most 20 sends, and the error carries the last response`() async throws {
    let transport = ClosureTransport(503, "busy")
    let forever = ClosureBehavior("forever") { request, next in
      while true { _ = try await next(request) }
    }
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(transport, [forever]).send(.get("x"))
    }
    #expect(transport.sent.count == 20)
    #expect(error?.code == .tooManyAttempts)
    #expect(error?.statusCode == 503)
    #expect(error?.attempts.count == 20)
  }

  @Test func `promise 5: the error has the last failure if there was no response`() async throws {
    let transport = ClosureTransport { _ in throw Failure("down") }
    let forever = ClosureBehavior("forever") { request, next in
      while true {
        do { return try await next(request) } catch is Failure { continue }
      }
    }
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(transport, [forever]).send(.get("x"))
    }
    #expect(error?.code == .tooManyAttempts)
    #expect(error?.underlyingError as? Failure == Failure("down"))
  }

  @Test func `a failure of a transport gets the request as it was sent, unless it has one`() async throws {
    let other = NetworkRequest(url: try #require(URL(string: "https://h/other")))
    let failures = Box([NetworkError(.cannotConnect, "down"), NetworkError(.cannotConnect, "down", request: other)])
    let transport = ClosureTransport { _ in throw failures.update { $0.removeFirst() } }
    let client = NetworkClient(transport, [.headers(["X-Sent": "1"])])
    let bare = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(bare?.request?.headers["X-Sent"] == "1")
    #expect(bare?.request?.attemptNumber == 1)
    #expect(bare?.attempts.count == 1)
    let own = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(own?.request?.url.path() == "/other")
  }
}
