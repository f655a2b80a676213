import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Changes of another program at the destination of a download.
@Suite(.limited) struct DownloadPlaceTests {
  private let server: DownloadFixture

  init() throws { server = try DownloadFixture() }

  private var partial: URL { server.destination.appendingPathExtension("partial") }

  /// Does something when the file is whole, before it is moved to its place.
  private func client(_ change: @escaping @Sendable () throws -> Void) -> NetworkClient {
    server.client([ClosureBehavior(order: .observation, afterSuccess: { _, _ in try change() })])
  }

  private func append(_ text: String) throws {
    let handle = try FileHandle(forWritingTo: partial)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  @Test func `a file that another program has extended is not moved to its destination`() async throws {
    try Data("old".utf8).write(to: server.destination)
    let client = client { try append("x") }
    let error = await #expect(throws: NetworkError.self) {
      try await client.download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .fileUnwritable)
    #expect(error.map { "\($0)" }?.contains("another program changed the file") == true)
    #expect(try Data(contentsOf: server.destination) == Data("old".utf8))
    try await expectNewBeginning()
  }

  @Test func `a file that another program made shorter while it was written is not moved to its place`() async throws {
    let (partial, part, count) = (partial, Data(repeating: 1, count: 300_000), Box(0))
    let transport = ClosureTransport { request in
      let parts = AsyncThrowingStream<Data, any Error> {
        let number = count.update { count in
          count += 1
          return count
        }
        // The first part is in the file when the second one is asked for.
        if number == 2 { try FileHandle(forWritingTo: partial).truncate(atOffset: 10) }
        return number > 2 ? nil : part
      }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["ETag": "\"a\"", "Content-Length": "600000"],
        body: .stream(ByteStream(parts)))
    }
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(baseURL: baseURL, transport: transport).download(.get("file"), to: server.destination)
    }
    #expect(count.value == 2)
    #expect(error?.code == .fileUnwritable)
    #expect(!FileManager.default.fileExists(atPath: server.destination.path))
    try await expectNewBeginning()
  }

  /// Expects that a further download does not resume.
  private func expectNewBeginning() async throws {
    try await server.client().download(.get("file"), to: server.destination)
    #expect(server.ranges.last == "all -")
    #expect(try Data(contentsOf: server.destination) == server.content.value)
    #expect(try server.names == ["file.bin"])
  }

  @Test func `a file that another program put in place of the partial file is neither moved nor removed`() async throws
  {
    let (partial, other) = (partial, Data(repeating: 1, count: 1_000))
    let client = client {
      try FileManager.default.removeItem(at: partial)
      try other.write(to: partial)
    }
    let error = await #expect(throws: NetworkError.self) {
      try await client.download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .fileUnwritable)
    #expect(try Data(contentsOf: partial) == other)
    #expect(!FileManager.default.fileExists(atPath: server.destination.path))
    try await expectNewBeginning()
  }

  @Test func `a partial file that another program has extended is not resumed`() async throws {
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    // Once the rest is requested.
    let change = ClosureBehavior(order: .last, modify: { _ in try append("x") })
    let error = await #expect(throws: NetworkError.self) {
      try await server.client([change]).download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .fileUnwritable)
    #expect(!FileManager.default.fileExists(atPath: server.destination.path))
    try await expectNewBeginning()
  }

  @Test func `a link in place of the partial file is not followed`() async throws {
    let other = server.folder.appending(path: "notes.txt")
    try Data("notes".utf8).write(to: other)
    try FileManager.default.createSymbolicLink(at: partial, withDestinationURL: other)
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .fileUnwritable)
    #expect(error.map { "\($0)" }?.contains("file.bin.partial") == true)
    #expect(try Data(contentsOf: other) == Data("notes".utf8))
  }

  @Test func `a download that breaks off before its first byte leaves no file`() async throws {
    server.cuts.value = [0]
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .truncatedBody)
    #expect(try server.names == [])
  }

  @Test func `an unfinished file that cannot be moved to its destination stays private`() async throws {
    let client = client { [destination = server.destination] in
      try FileManager.default.createDirectory(at: destination, withIntermediateDirectories: false)
    }
    _ = try? await client.download(.get("file"), to: server.destination)
    let rights = try FileManager.default.attributesOfItem(atPath: partial.path)[.posixPermissions] as? Int
    #expect(rights == 0o600)
  }

  @Test func `the place is free as soon as a download has ended, however it ended`() async throws {
    server.cuts.value = [300, nil]
    server.replies.value = [(404, [:], "no"), (304, [:], "")]
    let client = server.client()
    for _ in 0..<2 { _ = try? await client.download(.get("file"), to: server.destination) }
    #expect(try server.names.isEmpty)
    for _ in 0..<2 { _ = try? await client.download(.get("file"), to: server.destination) }
    #expect(try server.names == ["file.bin"])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  #if os(Linux)
    /// The number of unfinished files of this test that the process has open.
    private var openCount: Int {
      get throws {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let paths = descriptors.compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        return paths.count { $0.contains(server.folder.lastPathComponent) && $0.hasSuffix(".partial") }
      }
    }

    @Test func `a download unlocks its file, although a process that is being started has a copy of its descriptor`()
      async throws
    {
      let copies = Box<[Int32]>([])
      defer { for copy in copies.value { close(copy) } }
      server.cuts.value = [300, 300]
      _ = try? await server.client().download(.get("file"), to: server.destination)
      let name = "\(server.folder.lastPathComponent)/file.bin.partial"
      let copying = ClosureBehavior("copying", order: .last) { request, next in
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
        // All are found before the first copy, which may get a number of the list that is free again.
        let open = descriptors.filter {
          let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
          return path?.hasSuffix(name) == true
        }
        copies.update { $0 += open.map { dup($0) } }
        return try await next(request)
      }
      _ = try? await server.client([copying]).download(.get("file"), to: server.destination)
      #expect(copies.value.count == 1)
      try await server.client().download(.get("file"), to: server.destination)
      #expect(server.ranges == ["all -", "bytes=300- \"a\"", "bytes=600- \"a\""])
    }

    @Test func `downloads that wait for a limit have no open file`() async throws {
      let (gate, events, count) = (TestGate(), RecordedEvents(), 200)
      let held = ClosureBehavior("held", order: .last) { request, next in
        await gate.pass()
        return try await next(request)
      }
      let client = server.client([.concurrencyLimit(1), held, events])
      let places = (0..<count).map { server.folder.appending(path: "\($0).bin") }
      let downloads = places.map { place in Task { try await client.download(.get("file"), to: place) } }
      await events.waitFor(count - 1, "waits for one of 1 permits")
      await gate.waitForArrivals(1)
      #expect(try openCount <= 1)
      #expect(try server.names.count <= 1)
      gate.open()
      for download in downloads { _ = try await download.value }
      #expect(try server.names == places.map(\.lastPathComponent).sorted())
      #expect(try places.allSatisfy { try Data(contentsOf: $0) == server.content.value })
      #expect(try openCount == 0)
    }

    @Test func `an unfinished download makes no other file that a killed process could leave`() async throws {
      let watch = inotify_init1(Int32(O_NONBLOCK) | Int32(O_CLOEXEC))
      defer { close(watch) }
      inotify_add_watch(watch, server.folder.path, UInt32(IN_CREATE | IN_MOVED_TO))
      server.cuts.value = [300]
      _ = try? await server.client().download(.get("file"), to: server.destination)
      #expect(Self.names(from: watch) == ["file.bin.partial", "file.bin.partial.json"])
    }

    /// The names of the files that were made in a watched folder.
    private static func names(from watch: Int32) -> Set<String> {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = read(watch, &bytes, bytes.count)
      var rest = bytes.prefix(max(0, count))
      var names: Set<String> = []
      // An event is a head of 16 bytes, whose last four are the length of the name that follows (inotify(7)).
      while rest.count >= 16 {
        let length = rest.dropFirst(12).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        names.insert(String(decoding: rest.dropFirst(16).prefix(length).prefix { $0 != 0 }, as: UTF8.self))
        rest = rest.dropFirst(16 + length)
      }
      return names
    }

    @Test func `an unfinished file is locked before the request that resumes it is sent`() async throws {
      server.cuts.value = [300]
      _ = try? await server.client().download(.get("file"), to: server.destination)
      let gate = TestGate()
      let download = await server.waitingDownload(behind: gate)
      #expect(try openCount == 1)
      gate.open()
      _ = try await download.value
      #expect(server.ranges.last == "bytes=300- \"a\"")
    }
  #endif

  @Test func `a response from a cache is written where no request was sent`() async throws {
    let stored = ClosureBehavior("stored", order: .caching) { request, _ in
      NetworkResponse(request: request, statusCode: 200, body: .data(Data("stored".utf8)))
    }
    try await server.client([stored]).download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == Data("stored".utf8))
    #expect(try server.names == ["file.bin"])
  }

  @Test func `a retry after a file that was too long or had another checksum writes to the same place`() async throws {
    server.replies.value = [(200, ["ETag": "\"a\"", "Content-Length": "1"], "12")]
    let retry = ClosureBehavior("once more", order: .retry) { request, next in
      do { return try await next(request) } catch is NetworkError { return try await next(request) }
    }
    try await server.client([retry]).download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
    #expect(try server.names == ["file.bin"])
  }
}
