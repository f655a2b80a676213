import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of "Downloading".
@Suite(.limited) final class DownloadSamplesTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "samples-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  @Test func `a download writes a file`() async throws {
    let id = 7
    let client = NetworkClient(baseURL: baseURL, transport: answering("{}"))
    let file = folder.appending(path: "export.zip")
    let response = try await client.download(
      .get("exports/\(id)"), to: file)
    #expect(response.statusCode == 200)
    try await client.download(
      .get("exports/\(id)"), to: file, resumes: false)
    // Of `{}`.
    let published = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    try await client.download(
      .get("releases/1.0.zip"), to: file,
      checksum: .sha256(published), limit: 512 << 20)
    #expect(try Data(contentsOf: file) == Data("{}".utf8))
    do {
      let hash = try? await Digest.sha256(ofFile: file)
      let isCurrent = hash?.hexadecimal == published
      #expect(isCurrent)
    }
  }

  @Test func `many files are downloaded, four at a time`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { LoopbackResponse.text($0.path).held(by: gate, at: .body(after: 2)) }
    let (baseURL, folder, ids) = (server.baseURL, folder, Array(1...10))
    async let done: Void = {
      let client = NetworkClient(
        baseURL: baseURL, behaviors: [.retry(), .concurrencyLimit(4)])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for id in ids {
          group.addTask {
            try await client.download(
              .get("photos/\(id)"), to: folder.appending(path: "\(id).jpg"))
          }
        }
        try await group.waitForAll()
      }
    }()
    await gate.waitForArrivals(4)
    #expect(server.requestCount == 4)
    gate.open()
    try await done
    for id in ids {
      #expect(try String(contentsOf: folder.appending(path: "\(id).jpg"), encoding: .utf8) == "/photos/\(id)")
    }
  }

  @Test func `a download is written where a sample says`() async throws {
    let (id, client) = (7, NetworkClient(baseURL: baseURL, transport: answering("{}")))
    let response = try await client.download(
      .get("exports/\(id)"), to: folder.appending(path: "export.zip"))
    #expect(response.statusCode == 200)
  }

  @Test func `a part of a response of the loopback server is sent where a request asks for it`() async throws {
    let bytes = Data("0123456789".utf8)
    let file = LoopbackResponse.data(bytes).header("ETag", "\"a\"")
    let server = try LoopbackServer { file.part(for: $0) }
    let client = NetworkClient(baseURL: server.baseURL)
    let part: Data = try await client.send(.get("file").with(header: "Range", "bytes=8-"))
    #expect(part == Data("89".utf8))
  }

  // Compiled, not run: it would ask a server.
  private func cancel(id: Int, file: URL) {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.retry()])
    let task = Task {
      try await client.download(.get("exports/\(id)"), to: file)
    }
    task.cancel()  // what came is kept
  }
}
