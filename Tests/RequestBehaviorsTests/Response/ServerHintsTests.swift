import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct ServerHintsTests {
  /// Stands at 2020-01-01T00:00:00Z.
  private let clock = ManualClock()

  private func hints(_ headers: HeaderFields, status: Int = 503, isVerified: Bool = true) -> ServerHints {
    let call = Call(clock: clock.requestClock)
    let request = NetworkRequest(url: baseURL, call: call)
    return ServerHints(
      NetworkResponse(request: request, statusCode: status, headers: headers, isVerified: isVerified))
  }

  @Test(arguments: [
    ("120", 120_000), ("0", 0), ("1.5", 1_500), (" 7 ", 7_000), ("Wed, 01 Jan 2020 00:00:30 GMT", 30_000),
    ("Tue, 31 Dec 2019 23:59:59 GMT", 0), ("Wednesday, 01-Jan-20 00:01:00 GMT", 60_000), ("1577836810", 10_000),
  ])
  func `Retry-After is read in seconds and as a date`(value: String, milliseconds: Int) {
    #expect(hints(["Retry-After": value]).delay == .milliseconds(milliseconds))
  }

  @Test(arguments: ["", "-1", "soon", "1e9", "0x10", "1 2", "+3", "١"])
  func `an invalid Retry-After is ignored`(value: String) {
    #expect(hints(["Retry-After": value]).delay == nil)
  }

  @Test func `a very large Retry-After is limited to a century, without a trap`() {
    #expect(hints(["retry-after-ms": String(repeating: "9", count: 400)]).delay == .seconds(3_162_240_000))
    #expect(hints(["retry-after-ms": String(repeating: "9", count: 30)]).delay == .seconds(3_162_240_000))
    #expect(hints(["Retry-After": "99999999999999999999"]).delay == .seconds(3_162_240_000))
  }

  @Test func `a date counts from the response's Date, so that a clock that is wrong here does not matter`() {
    let headers: HeaderFields = [
      "Date": "Thu, 02 Jan 2025 10:00:00 GMT", "Retry-After": "Thu, 02 Jan 2025 10:00:20 GMT",
    ]
    #expect(hints(headers).delay == .seconds(20))
  }

  @Test func `milliseconds take precedence over seconds`() {
    #expect(hints(["Retry-After": "2", "retry-after-ms": "1250"]).delay == .milliseconds(1_250))
  }

  @Test(arguments: ["x-should-retry", "Stripe-Should-Retry"])
  func `servers can ask for a retry or forbid it`(name: String) {
    #expect(hints([name: "true"]).shouldRetry == true)
    #expect(hints([name: "False"]).shouldRetry == false)
    #expect(hints([name: "maybe"]).shouldRetry == nil)
  }

  @Test func `RateLimit and RateLimit-Policy of draft 11 are read as named limits`() throws {
    let hints = hints([
      "RateLimit": #""default";r=50;t=30, "burst";r=0;t=7"#,
      "RateLimit-Policy": #""burst";q=100;w=60,"daily, all";q=1000;w=86400;pk=:abc:"#,
    ])
    #expect(hints.limits.map(\.name) == ["default", "burst", "daily, all"])
    let burst = hints.limits[1]
    #expect(burst.remaining == 0)
    #expect(burst.resetsAfter == .seconds(7))
    #expect(burst.quota == 100)
    #expect(burst.window == .seconds(60))
    #expect(hints.delay == .seconds(7))
  }

  @Test(arguments: ["RateLimit-", "X-RateLimit-", "X-Rate-Limit-"])
  func `the older three fields are read, a reset above a billion as a date`(prefix: String) {
    let left: HeaderFields = [prefix + "Limit": "10", prefix + "Remaining": "3", prefix + "Reset": "20"]
    #expect(hints(left).limits == [.init(quota: 10, remaining: 3, resetsAfter: .seconds(20))])
    #expect(hints(left).delay == nil)
    let spent: HeaderFields = [prefix + "Remaining": "0", prefix + "Reset": "1577836860"]
    #expect(hints(spent, status: 200).delay == .seconds(60))
  }

  @Test(arguments: ["X-RateLimit-Reset", "RateLimit-Reset", "Retry-After"])
  func `a date in milliseconds since 1970 is no wait of a century`(name: String) {
    #expect(hints([name: "1577836860500"], status: 429).delay == .milliseconds(60_500))
    #expect(hints([name: "1577836740500"], status: 429).delay == .zero)
  }

  @Test func `a reset without a remaining count applies only if the request was refused`() {
    #expect(hints(["X-RateLimit-Reset": "20"], status: 429).delay == .seconds(20))
    #expect(hints(["X-RateLimit-Reset": "20"], status: 200).delay == nil)
  }

  @Test func `Retry-After takes precedence over limits`() {
    #expect(hints(["Retry-After": "1", "RateLimit": "a;r=0;t=9"]).delay == .seconds(1))
  }

  @Test func `a response that may not come from the server does not give a hint`() {
    let hints = hints(["Retry-After": "9", "x-should-retry": "true", "RateLimit": "a;r=0;t=9"], isVerified: false)
    #expect(hints.delay == nil)
    #expect(hints.shouldRetry == nil)
    #expect(hints.limits.isEmpty)
  }

  @Test func `tens of thousands of policies are read, the last one of a name counts, and each name once`() {
    let names = (0..<20_000).map { #""p\#($0)";q=1"# } + [#""p7";q=2"#]
    let limits = hints(["RateLimit-Policy": names.joined(separator: ",")]).limits
    #expect(limits.count == 20_000)
    #expect(limits[7].quota == 2)
  }

  @Test(arguments: [
    "RateLimit: \"", "RateLimit: ;;;", "RateLimit: ,,=", "RateLimit: a;r=;t=", "RateLimit: a;r=99999999999999999999",
    "RateLimit: \"a\\\"b\";r=0;t=1", "RateLimit-Policy: q=1", "X-RateLimit-Reset: NaN",
  ])
  func `malformed fields do not cause a negative delay`(line: String) {
    let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
    #expect((hints([parts[0]: parts[1]], status: 429).delay ?? .zero) >= .zero)
  }
}
