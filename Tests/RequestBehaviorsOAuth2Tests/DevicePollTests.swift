import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@testable import RequestBehaviorsOAuth2

/// The waits of a device (RFC 8628 §3.5).
@Suite(.limited) struct DevicePollTests {
  private func waits(
    _ interval: Int, _ answers: [DevicePoll.Answer], expiresIn: Int = 1_800
  ) -> (waits: [Duration], rest: Duration?) {
    var poll = DevicePoll(interval: .seconds(interval), end: .seconds(expiresIn))
    var (now, waits) = (Duration.zero, [Duration]())
    for answer in [nil] + answers.map(Optional.some) {
      switch poll.next(after: answer, now: now) {
      case .ask(let wait):
        waits.append(wait)
        now += wait
      case .expire(let rest): return (waits, rest)
      }
    }
    return (waits, nil)
  }

  @Test func `slow_down adds five seconds to all later waits`() {
    #expect(waits(7, [.pending, .slowDown, .pending]).waits == [7, 7, 12, 12].map { .seconds($0) })
  }

  @Test func `no request is sent at or after the expiry`() {
    let result = waits(5, [.pending, .pending], expiresIn: 12)
    #expect(result.waits == [.seconds(5), .seconds(5)])
    #expect(result.rest == .seconds(2))
  }

  @Test func `if the code expires at the time of a poll, the wait ends with the expiry`() {
    #expect(waits(5, [.pending], expiresIn: 10).rest == .seconds(5))
  }

  @Test func `the wait doubles up to a minute while there is no usable response`() {
    let answers = [DevicePoll.Answer](repeating: .unavailable(nil), count: 5)
    #expect(waits(5, answers).waits == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
  }

  @Test func `a usable response ends the longer waits`() {
    #expect(waits(5, [.unavailable(nil), .unavailable(nil), .pending]).waits == [5, 10, 20, 5].map { .seconds($0) })
    #expect(
      waits(5, [.unavailable(nil), .slowDown, .unavailable(nil)]).waits == [5, 10, 10, 20].map { .seconds($0) })
  }

  @Test func `an interval of more than a minute is not shortened`() {
    #expect(waits(90, [.unavailable(nil)]).waits == [90, 90].map { .seconds($0) })
  }

  @Test func `the server's wait is a floor of one wait only`() {
    #expect(waits(5, [.unavailable(.seconds(60)), .pending]).waits == [5, 60, 5].map { .seconds($0) })
    #expect(waits(5, [.unavailable(.seconds(1)), .pending]).waits == [5, 10, 5].map { .seconds($0) })
  }

  @Test func `a long wait is cut so that one request is sent shortly before the expiry`() {
    let result = waits(5, [.unavailable(.seconds(3_600)), .unavailable(nil), .pending], expiresIn: 100)
    #expect(result.waits == [5, 90].map { .seconds($0) })
    #expect(result.rest == .seconds(5))
  }

  @Test func `the last request respects the interval`() {
    let result = waits(7, [.unavailable(.seconds(60))], expiresIn: 15)
    #expect(result.waits == [7, 7].map { .seconds($0) })
    #expect(waits(10, [.unavailable(.seconds(60))], expiresIn: 15).rest == .seconds(5))
  }

  @Test func `an expired code is not polled for`() {
    #expect(waits(5, [], expiresIn: -3).rest == .zero)
  }
}
