import Foundation
import RequestBehaviors
import Testing

@Suite(.limited) struct ConnectionTimingsTests {
  private let start = Date(timeIntervalSince1970: 1_000)

  private func after(_ seconds: Double) -> Date { start.addingTimeInterval(seconds) }

  @Test func `the time for connecting is without that for TLS`() {
    let timings = ConnectionTimings(
      nameLookup: (start, after(0.25)), connecting: (after(0.25), after(1)), securing: (after(0.5), after(1)),
      isReused: false, protocolName: "h2")
    #expect(timings.nameLookup == .milliseconds(250))
    #expect(timings.connecting == .milliseconds(250))
    #expect(timings.securing == .milliseconds(500))
    #expect(timings.protocolName == "h2")
    #expect(!timings.isReused)
  }

  @Test func `without TLS the connection phase lasts until its end`() {
    let timings = ConnectionTimings(
      nameLookup: (nil, nil), connecting: (start, after(1)), securing: (nil, nil), isReused: false, protocolName: nil)
    #expect(timings.connecting == .seconds(1))
    #expect(timings.securing == nil)
    #expect(timings.nameLookup == nil)
  }

  @Test func `a phase without an end, or with an end before its start, has no duration`() {
    let timings = ConnectionTimings(
      nameLookup: (start, nil), connecting: (nil, after(1)), securing: (after(1), start), isReused: true,
      protocolName: nil)
    #expect(timings == ConnectionTimings(isReused: true))
  }
}
