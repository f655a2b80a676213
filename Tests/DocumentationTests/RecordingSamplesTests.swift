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

  @Test func `looking: an app records its own wait`() async throws {
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

  @Test func `the secrets of a call outlast the call`() {
    let redactor = Redactor.standard
    let call = Call()
    call.addSecret("s3cret-key")
    let secrets = call.secrets
    let shown = redactor.hiding(secrets.values(for: redactor))
    #expect(shown.redact(text: "no s3cret-key") == "no REDACTED")
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
    let prices = try await clock.run { try await client.prices() }
    #expect(prices == [1, 2, 3])
  }

  @Test func `virtual time: a time passes for work under way`() async throws {
    let cassette = try CassetteTransport("prices", pace: .recorded)
    let clock = ManualClock(date: cassette.recordedAt)
    let client = PriceClient(cassette, clock.requestClock)
    async let prices = client.prices()
    await clock.run(for: .seconds(90))
    // On a busy machine the work may have missed a moment.
    async let _ = clock.runUntilCancelled()
    #expect(try await prices == [1, 2, 3])
  }

  @Test func `cassettes: one value of a body, and fields that differ each time`() throws {
    let matching = CassetteMatching.standard
      .body { try $0.json(GraphQuery.self).operation }
    #expect(try CassetteTransport("prices", matching: matching).unused.count == 1)
    let cassette = try CassetteTransport(
      "prices", ignoring: ["X-Served-By"])
    #expect(cassette.unused.count == 1)
  }

  @Test func `handing on: an app writes the archive, and a developer makes the test`() async throws {
    let mock = MockTransport(baseURL: baseURL)
    mock.on(.get, "issues").respond(503)
    let client = makeClient(transport: mock, clock: .immediate)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let harFile = folder.appending(path: "handed-on.har")
    let page = folder.appending(path: "handed-on.html")
    do {
      try await client.send(.get("issues"))
    } catch let error as NetworkError {
      if let recording = error.recording() {
        try recording.har().write(to: harFile)
        try recording.waterfall().write(to: page)
      }
    }
    #expect(try String(contentsOf: page, encoding: .utf8).contains("/issues</span>"))
    let recording = try Recording(har: Data(contentsOf: harFile))
    try recording.reproduction(named: "Checkout")?.write(to: folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
    #expect(names == ["CheckoutTests.swift", "checkout.har", "checkout.html", "handed-on.har", "handed-on.html"])
  }

  @Test func `handing on: a recorder that keeps bodies`() {
    let recorder = CallRecorder(bodies: .upTo(65_536))
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [.recording(recorder), .retry()])
    #expect(recorder.recording.calls.isEmpty)
    _ = client
  }
}

func makeClient(
  transport: any Transport, clock: RequestClock
) -> NetworkClient {
  var configuration = RequestConfiguration(
    baseURL: baseURL, behaviors: [.retry()])
  configuration.clock = clock
  return NetworkClient(
    configuration: configuration, transport: transport)
}

private struct GraphQuery: Decodable {
  let operation: String
}

private struct IssueStore: Sendable {
  struct Issue: Decodable { let id: Int }
  let client: NetworkClient

  init(_ client: NetworkClient) { self.client = client }

  func open() async throws -> [Issue] { try await client.send(.get("issues", query: ["state": "open"])) }
}

extension ManualClock {
  fileprivate func runUntilCancelled() async {
    while !Task.isCancelled {
      advanceToNextWait()
      await Task.yield()
    }
  }
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
