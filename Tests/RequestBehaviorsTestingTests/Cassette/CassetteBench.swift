import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

/// A folder with the cassettes of one test.
final class CassetteBench: Sendable {
  let folder = URL.temporaryDirectory.appending(path: "cassettes-\(UUID().uuidString)")
  let baseURL = URL(string: "https://api.example.com/v1/") ?? URL(filePath: "/")

  deinit { try? FileManager.default.removeItem(at: folder) }

  func cassette(
    _ mode: CassetteMode, name: String = "tape", matching: CassetteMatching = .standard, pace: ReplayPace = .immediate,
    ignoring ignored: [String] = [], over live: (any Transport)? = nil
  ) throws -> CassetteTransport {
    // The modes that record are refused where `CI` is set.
    try CassetteMode.$environment.withValue([:]) {
      try CassetteTransport(
        name, mode: mode, over: live ?? MockTransport(), matching: matching, pace: pace, ignoring: ignored,
        directory: folder.path(percentEncoded: false))
    }
  }

  func text(_ name: String = "tape") throws -> String {
    String(decoding: try Data(contentsOf: folder.appending(path: "\(name).har")), as: UTF8.self)
  }

  func write(_ har: String, name: String = "tape") throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(har.utf8).write(to: folder.appending(path: "\(name).har"))
  }

  func client(
    _ transport: any Transport, _ behaviors: [any RequestBehavior] = [], clock: RequestClock = .system
  ) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.clock = clock
    return NetworkClient(configuration: configuration, transport: transport)
  }

  /// Records what a closure asks of a mock.
  func record(
    _ mode: CassetteMode = .recordAll, over live: any Transport, matching: CassetteMatching = .standard,
    ignoring ignored: [String] = [], _ behaviors: [any RequestBehavior] = [],
    use: (NetworkClient) async throws -> Void
  ) async throws {
    let recording = try cassette(mode, matching: matching, ignoring: ignored, over: live)
    try await use(client(recording, behaviors))
    try recording.save()
    await recording.shutdown()
  }

  /// Returns a client of a server on this machine.
  func client(_ transport: any Transport, at baseURL: URL, _ behaviors: [any RequestBehavior] = []) -> NetworkClient {
    NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: transport)
  }

  func tape(_ respond: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse) -> Tape {
    Tape(bench: self, respond: respond)
  }

  /// A server that is recorded.
  struct Tape {
    let bench: CassetteBench
    let respond: @Sendable (LoopbackRequest) -> LoopbackResponse

    /// Records what a closure asks of the server, and returns the server's address, at which none listens afterwards.
    func record(_ use: (NetworkClient) async throws -> Void) async throws -> URL {
      let server = try LoopbackServer(handler: respond)
      let recording = try bench.cassette(.recordAll, over: URLSessionTransport())
      try await use(bench.client(recording, at: server.baseURL))
      try recording.save()
      await recording.shutdown()
      server.stop()
      return server.baseURL
    }
  }
}

/// Counts what a server is asked.
final class Counter: Sendable {
  private let value = Locked(0)

  var count: Int { value.withLock { $0 } }

  func next() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}
