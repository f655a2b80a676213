import Foundation
import RequestBehaviors
import Testing

/// The page of a recording as text; ``WaterfallLayoutTests`` look at it in a browser.
@Suite(.limited) struct WaterfallTests {
  private func html(_ recording: Recording) -> String { String(decoding: recording.waterfall(), as: UTF8.self) }

  @Test func `the page has no script, handler or address to load, whatever URLs and fields contain`() {
    var samples = RecordingSamples(seed: 4)
    let page = html(samples.recording(of: 200))
    #expect(!page.contains("<script"))
    #expect(!page.contains("onmouseover='"))
    #expect(!page.contains("src="))
    #expect(!page.contains("href="))
    #expect(!page.contains("url("))
    #expect(page.contains("default-src 'none'"))
    #expect(page.components(separatedBy: "</style>").count == 2)
    let isClean = page.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E || $0 == "\n" }
    #expect(isClean)
    #expect(page.contains("\\u{202e}"))
  }

  @Test func `the page of three hundred calls is smaller than a megabyte`() {
    var samples = RecordingSamples(seed: 5)
    let recording = samples.recording(of: 300)
    #expect(recording.waterfall().count <= 1_000_000)
    #expect(html(recording).contains("<h4>Decisions"))
  }

  @Test func `many calls start collapsed, and of very many only the latest are shown`() {
    var samples = RecordingSamples(seed: 6)
    let recording = samples.recording(of: 2_500)
    let page = html(recording)
    #expect(!page.contains("<h4>"))
    #expect(page.components(separatedBy: "<details").count == 2_001)
    #expect(page.contains(">\(500 + recording.droppedCalls) earlier calls are not shown"))
  }

  @Test func `an empty recording is a page too`() {
    let page = html(Recording(startedAt: Date(timeIntervalSince1970: 0)))
    #expect(page.contains("No calls"))
  }

  @Test func `a prerequisite is below its call`() throws {
    var recording = Recording(startedAt: Date(timeIntervalSince1970: 0))
    let ended = Duration.seconds(1)
    recording.calls = [
      RecordedCall(number: 7, method: "GET", url: "https://a.example/me", startedAt: .zero, endedAt: ended),
      RecordedCall(number: 8, method: "GET", url: "https://a.example/other", startedAt: .zero, endedAt: ended),
      RecordedCall(
        number: 9, parent: 7, purpose: .prerequisite, method: "POST", url: "https://a.example/token", startedAt: .zero,
        endedAt: ended),
    ]
    let page = html(recording)
    let places = try ["/me</span>", "/token</span>", "/other</span>"].map {
      try #require(page.range(of: $0)).lowerBound
    }
    #expect(places == places.sorted())
    #expect(page.contains("call child"))
  }

  @Test func `calls that name each other as parents are shown once each`() {
    var recording = Recording(startedAt: Date(timeIntervalSince1970: 0))
    recording.calls = [1, 2].map { number in
      RecordedCall(
        number: number, parent: 3 - number, method: "GET", url: "https://a.example/\(number)", startedAt: .zero,
        endedAt: .seconds(1))
    }
    #expect(html(recording).components(separatedBy: "<details").count == 3)
  }

  @Test func `a recording with the largest numbers of bytes and of missing calls is a page and an archive`() {
    let chunks = [0, 1].map { _ in RecordedSend.Chunk(at: .seconds(1), bytes: .max) }
    let sends = [1, 2].map { RecordedSend(number: $0, method: "GET", url: "/", startedAt: .zero, chunks: chunks) }
    let calls = (0...2_000).map {
      RecordedCall(number: $0, method: "GET", url: "/", startedAt: .zero, endedAt: .seconds(1), sends: sends)
    }
    let recording = Recording(startedAt: Date(timeIntervalSince1970: 0), calls: calls, droppedCalls: .max)
    #expect(html(recording).contains(">\(Int.max) earlier calls are not shown"))
    #expect(!recording.har().isEmpty)
  }

  @Test func `a send long before its call is drawn at the left edge`() {
    let send = RecordedSend(number: 1, method: "GET", url: "/", startedAt: .seconds(-1e9), endedAt: .zero)
    let call = RecordedCall(number: 1, method: "GET", url: "/", startedAt: .zero, endedAt: .zero, sends: [send])
    let recording = Recording(startedAt: Date(timeIntervalSince1970: 0), calls: [call])
    #expect(html(recording).contains("d=\"M0,40 L0.0,40 L0.0,"))
  }
}
