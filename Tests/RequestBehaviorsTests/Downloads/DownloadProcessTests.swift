#if os(Linux) || os(macOS)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// Downloads of several processes to one place.
  @Suite(.limited) struct DownloadProcessTests {
    private let files: DownloadFixture
    private let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

    init() throws { files = try DownloadFixture() }

    private var file: LoopbackResponse { LoopbackResponse.data(content).header("ETag", "\"a\"") }

    /// Starts a process that downloads, and tells when so many bytes are there.
    private func start(_ server: LoopbackServer, telling count: Int = 500_000) throws -> ChildProcess {
      let probe = try #require(ChildProcess.fixture("TransportProbe"))
      return try ChildProcess(probe, ["download", "\(server.baseURL)file", files.destination.path, "\(count)"])
    }

    private func download(_ server: LoopbackServer) async throws {
      try await NetworkClient(baseURL: server.baseURL).download(.get("file"), to: files.destination)
    }

    @Test func `a second process resumes the download of a killed one`() async throws {
      let file = file
      let server = try LoopbackServer { request in
        let part = file.part(for: request)
        return request.headers["Range"] == nil ? part.fault(.stall, at: .body(after: 800_000)) : part
      }
      let end = try await start(server).kill(afterLines: 1)
      #expect(end.wasKilled)
      #expect(end.text == "500000 bytes are there\n")
      #expect(try files.names == ["file.bin.partial", "file.bin.partial.json"])
      try await download(server)
      #expect(try Data(contentsOf: files.destination) == content)
      #expect(try files.names == ["file.bin"])
      let range = try #require(server.requests.last?.headers["Range"])
      let start = try #require(Int(range.dropFirst("bytes=".count).dropLast()))
      #expect((500_000...800_000).contains(start))
    }

    @Test func `a download whose process is killed again and again is whole in the end`() async throws {
      let file = file
      let isLast = Box(false)
      let server = try LoopbackServer { request in
        let part = file.part(for: request)
        // More than one part of what is written at once, which has 256 KiB.
        return isLast.value ? part : part.fault(.stall, at: .body(after: 300_000))
      }
      for count in [250_000, 500_000, 750_000] {
        let end = try await start(server, telling: count).kill(afterLines: 1)
        #expect(end.wasKilled)
        #expect(end.text == "\(count) bytes are there\n")
      }
      isLast.value = true
      try await download(server)
      #expect(try Data(contentsOf: files.destination) == content)
      #expect(try files.names == ["file.bin"])
      #expect(server.requests.map { $0.headers["Range"] == nil } == [true, false, false, false])
    }

    @Test func `another process cannot download to a place while a download is under way`() async throws {
      let gate = LoopbackGate()
      let file = file
      let server = try LoopbackServer { file.part(for: $0).held(by: gate, at: .body(after: 800_000)) }
      let first = try start(server)
      #expect(await first.lines(1) == "500000 bytes are there\n")
      let error = await #expect(throws: NetworkError.self) { try await download(server) }
      #expect(error?.code == .downloadInProgress)
      #expect(try await start(server, telling: content.count).end().text == "downloadInProgress\n")
      #expect(server.requests.count == 1)
      gate.open()
      #expect(await first.end().text == "whole\n")
      #expect(try Data(contentsOf: files.destination) == content)
      #expect(try files.names == ["file.bin"])
    }

    @Test func `more downloads than the process may have files open may begin at once`() async throws {
      let probe = try #require(ChildProcess.fixture("TransportProbe"))
      let end = try await ChildProcess(probe, ["downloads", files.folder.path, "2000"]).end()
      #expect(end.text == "2000\n")
      #expect(try files.names.count == 2_000)
      #expect(try !files.names.contains { $0.hasSuffix(".partial") })
    }

    @Test func `of processes that begin at once only one downloads`() async throws {
      let gate = LoopbackGate()
      let file = file
      let server = try LoopbackServer { file.part(for: $0).held(by: gate, at: .body(after: 10)) }
      let children = try (0..<4).map { _ in try start(server, telling: content.count) }
      let ends = await withTaskGroup(of: String.self) { group in
        for child in children { group.addTask { await child.end().text } }
        var ends: [String] = []
        for await end in group {
          ends.append(end)
          // The last one continues when the others have been refused.
          if ends.count == children.count - 1 { gate.open() }
        }
        return ends
      }
      #expect(ends.prefix(3) == ["downloadInProgress\n", "downloadInProgress\n", "downloadInProgress\n"])
      #expect(ends.last?.hasSuffix("whole\n") == true)
      #expect(server.requests.count == 1)
      #expect(try Data(contentsOf: files.destination) == content)
      #expect(try files.names == ["file.bin"])
    }
  }
#endif
