import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A recorder of several clients.
@Suite(.limited) struct CallRecorderClientsTests {
  private let recorder = CallRecorder()
  private let mock = MockTransport(baseURL: baseURL)

  @Test func `clients whose clocks disagree share a recorder, and no call has a negative length`() async throws {
    mock.on(.get, "*").respond(text: "fine").delayed(by: .seconds(2))
    let clocks = [ManualClock(), ManualClock()]
    clocks[0].advance(by: .seconds(1_000))
    let clients = clocks.map { NetworkClient(mock, $0.requestClock, [.recording(recorder)]) }
    for (client, clock) in zip(clients, clocks) {
      let text = try await clock.run { try await client.send(Request<String>.get("x")) }
      #expect(text == "fine")
    }
    let recording = recorder.recording
    #expect(recording.calls.map(\.startedAt) == [.zero, .seconds(-1_000)])
    let lengths = recording.calls.map { ($0.endedAt ?? .zero) - $0.startedAt }
    #expect(lengths == [.seconds(2), .seconds(2)])
    let again = try Recording(har: recording.har())
    #expect(again.calls.map(\.number) == recording.calls.map(\.number))
    let page = String(decoding: recording.waterfall(), as: UTF8.self)
    #expect(page.components(separatedBy: "<details").count == 3)
    #expect(!page.contains("style=\"left:-"))
    #expect(!page.contains(";width:-"))
  }
}
