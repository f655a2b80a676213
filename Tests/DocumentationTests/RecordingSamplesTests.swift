import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of the articles about recordings.
@Suite(.limited) struct RecordingSamplesTests {
  private let folder = URL.temporaryDirectory.appending(path: "recording-samples-\(UUID().uuidString)")

  private struct Printers: Sendable {
    func next() async throws {}
  }

  @Test func `looking: the page and the archive are written`() async throws {
    let server = try LoopbackServer { _ in .json("[]") }
    let baseURL = server.baseURL
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let page = folder.appending(path: "page.html")
    let harFile = folder.appending(path: "calls.har")
    let recorder = CallRecorder()
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [.recording(recorder), .retry()])
    try await client.send(.get("issues"))
    try recorder.recording.waterfall().write(to: page)
    try recorder.recording.har().write(to: harFile)
    #expect(try String(contentsOf: page, encoding: .utf8).contains("/issues</span>"))
    #expect(try Recording(har: Data(contentsOf: harFile)).calls.count == 1)
  }

  @Test func `looking: limits and bodies`() {
    let recorder = CallRecorder(
      limits: RecordingLimits(calls: 100), bodies: .upTo(4_096))
    #expect(recorder.limits.calls == 100)
    #expect(recorder.bodies == .upTo(4_096))
  }

  @Test func `looking: a wait of one's own`() async throws {
    let call = Call()
    let printers = Printers()
    try await {
      let waiting = call.begin(
        "waits for a free printer", from: "PrinterBehavior")
      defer { call.end(waiting) }
      try await printers.next()
    }()
    #expect(call.events.first?.duration != nil)
  }

  @Test func `a recorder of the doc comment`() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let page = folder.appending(path: "page.html")
    let harFile = folder.appending(path: "calls.har")
    let recorder = CallRecorder()
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [.recording(recorder), .retry()])
    try recorder.recording.waterfall().write(to: page)
    try recorder.recording.har().write(to: harFile)
    #expect(recorder.recording.calls.isEmpty)
    _ = client
  }

  @Test func issuesOfARepository() async throws {
    let cassette = try CassetteTransport()
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.retry()], transport: cassette)
    #expect(try await IssueStore(client).open().count == 30)
    try cassette.verify()
  }

  @Test func `cassettes: rules of matching`() throws {
    let matching = CassetteMatching.standard
      .ignoringBody(at: "/sentAt")
      .ignoringQuery("cursor")
    let cassette = try CassetteTransport("prices", matching: matching)
    #expect(cassette.unused.count == 1)
  }

  @Test func `cassettes: recorded times in virtual time`() async throws {
    let cassette = try CassetteTransport("prices", pace: .recorded)
    let clock = ManualClock(date: cassette.recordedAt)
    let client = PriceClient(cassette, clock.requestClock)
    async let prices = client.prices()
    await clock.run(for: .seconds(90))
    #expect(try await prices == [1, 2, 3])
    #expect(clock.now == .seconds(90))
  }
}

private struct IssueStore: Sendable {
  struct Issue: Decodable { let id: Int }
  let client: NetworkClient

  init(_ client: NetworkClient) { self.client = client }

  func open() async throws -> [Issue] { try await client.send(.get("issues", query: ["state": "open"])) }
}

private struct PriceClient: Sendable {
  let client: NetworkClient

  init(_ transport: any Transport, _ clock: RequestClock) {
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.clock = clock
    client = NetworkClient(configuration: configuration, transport: transport)
  }

  func prices() async throws -> [Int] { try await client.send(.get("prices").with(\.idleTimeout, .seconds(120))) }
}
