import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Files that come whole, in parts, or not at all.
@Suite(.limited) struct DownloadTests {
  private let server: DownloadFixture

  init() throws { server = try DownloadFixture() }

  @Test func `a download writes the body to the file and leaves no other file`() async throws {
    let response = try await server.client().download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
    #expect(try server.names == ["file.bin"])
    #expect(response.statusCode == 200)
    guard case .file(let url) = response.body else { throw Missing() }
    #expect(url.path == server.destination.path)
    #expect(server.requests.value.map { $0.headers["Accept-Encoding"] } == ["identity"])
    #expect(server.requests.value.map(\.options.delivery) == [.streamed])
  }

  @Test(arguments: [0, 1]) func `a file of zero bytes or one byte is downloaded`(count: Int) async throws {
    server.content.value = Data(repeating: 7, count: count)
    try await server.client().download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `an existing file stays until the new one is complete, and is then replaced`() async throws {
    try Data("old".utf8).write(to: server.destination)
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    #expect(try Data(contentsOf: server.destination) == Data("old".utf8))
    try await server.client().download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `an empty body is an empty file`() async throws {
    server.content.value = Data()
    try await server.client().download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination).isEmpty)
  }

  @Test func `a retry resumes where the body broke off`() async throws {
    server.cuts.value = [300, 250, 0]
    let response = try await server.client([.retry()]).download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "bytes=300- \"a\"", "bytes=550- \"a\"", "bytes=550- \"a\""])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
    #expect(response.statusCode == 200)
    #expect(response.headers["Content-Length"] == "1000")
    #expect(!response.headers.contains("Content-Range"))
    #expect(response.request.call.events.map(\.kind).filter { $0 == .download }.count == 3)
    #expect(try server.names == ["file.bin"])
  }

  @Test func `a later download resumes where an earlier one failed`() async throws {
    server.cuts.value = [300]
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .truncatedBody)
    #expect(try server.names == ["file.bin.partial", "file.bin.partial.json"])
    try await server.client().download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "bytes=300- \"a\""])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
    #expect(try server.names == ["file.bin"])
  }

  @Test func `a file without a strong validator is removed and downloaded again`() async throws {
    server.headers.value = ["ETag": "W/\"a\""]
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    #expect(try server.names.isEmpty)
    server.cuts.value = [300]
    try await server.client([.retry()]).download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "all -", "all -"])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
    let events = server.requests.value.last?.call.events.map(\.message) ?? []
    #expect(events.contains { $0.contains("begins anew: the server had sent no strong validator") })
  }

  @Test func `an event says that a download restarts, and a first download has no such event`() async throws {
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    #expect(server.requests.value.last?.call.events.contains { $0.message.contains("anew") } == false)
    try await server.client().download(.get("file"), to: server.destination, resumes: false)
    let events = server.requests.value.last?.call.events.map(\.message) ?? []
    #expect(events.contains { $0.contains("begins anew: only a GET") })
  }

  @Test func `a file that has changed is downloaded again`() async throws {
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    server.content.value = Data("another".utf8)
    server.headers.value = ["ETag": "\"b\""]
    try await server.client().download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "bytes=300- \"a\""])
    #expect(try Data(contentsOf: server.destination) == Data("another".utf8))
  }

  @Test func `a rest without a validator is discarded, and the whole file is requested`() async throws {
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    let new = Data(repeating: 7, count: 1_000)
    server.content.value = new
    server.replies.value = [
      (206, ["Content-Range": "bytes 300-999/1000"], String(decoding: new.dropFirst(300), as: UTF8.self))
    ]
    try await server.client().download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "bytes=300- \"a\"", "all -"])
    #expect(try Data(contentsOf: server.destination) == new)
  }

  @Test func `a rest that does not fit is discarded, and the whole file is requested`() async throws {
    server.cuts.value = [300]
    server.replies.value = []
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    server.replies.value = [(206, ["Content-Range": "bytes 0-1/2"], "xx")]
    let cancelled = server.cancellations.value
    try await server.client().download(.get("file"), to: server.destination)
    #expect(server.cancellations.value == cancelled + 1)
    #expect(server.ranges == ["all -", "bytes=300- \"a\"", "all -"])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a complete partial file is not sent again`() async throws {
    let failing = ClosureBehavior(
      order: .observation, afterSuccess: { _, _ in throw NetworkError(.transportFailed, "the hook fails") })
    await #expect(throws: NetworkError.self) {
      try await server.client([failing]).download(.get("file"), to: server.destination)
    }
    #expect(try server.names == ["file.bin.partial", "file.bin.partial.json"])
    let response = try await server.client().download(.get("file"), to: server.destination)
    #expect(response.statusCode == 200)
    #expect(response.headers["Content-Length"] == "1000")
    #expect(!response.headers.contains("Content-Type"))
    #expect(server.ranges == ["all -", "bytes=1000- \"a\""])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a download of another URL or user does not resume the first one`() async throws {
    server.cuts.value = [300, 300]
    for path in ["one", "two"] as [RequestPath] {
      await #expect(throws: NetworkError.self) {
        try await server.client().download(.get(path), to: server.destination)
      }
    }
    try await server.client([ScopeBehavior(name: "mona")]).download(.get("two"), to: server.destination)
    #expect(server.ranges == ["all -", "all -", "all -"])
  }

  @Test func `a download with resumes false requests the whole file`() async throws {
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination, resumes: false)
    }
    #expect(try server.names.isEmpty)
  }

  @Test func `the second of two downloads to one file fails, and the first continues`() async throws {
    let gate = TestGate()
    let hold = ClosureBehavior(modify: { _ in await gate.pass() })
    let client = server.client([hold])
    async let first = client.download(.get("file"), to: server.destination)
    await gate.waitForArrivals(1)
    let again = server.folder.appending(path: "x/../file.bin")
    let error = await #expect(throws: NetworkError.self) { try await client.download(.get("file"), to: again) }
    #expect(error?.code == .downloadInProgress)
    gate.open()
    #expect(try await first.statusCode == 200)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a status that is not acceptable fails with its body and keeps the existing file`() async throws {
    try Data("old".utf8).write(to: server.destination)
    server.replies.value = [(404, ["Content-Type": "application/json"], #"{"title":"gone"}"#)]
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    #expect(error?.statusCode == 404)
    #expect(try server.names == ["file.bin"])
    #expect(try Data(contentsOf: server.destination) == Data("old".utf8))
  }

  @Test func `a 206 for a request without a range is an error`() async throws {
    server.replies.value = [(206, ["Content-Range": "bytes 0-1/2"], "xx")]
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .badResponse)
    #expect(try server.names.isEmpty)
  }

  @Test func `a retry resumes a body that is shorter than announced`() async throws {
    server.replies.value = [(200, ["ETag": "\"a\"", "Content-Length": "1000"], "")]
    try await server.client([.retry()]).download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "all -"])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a body that is longer than announced is an error and is not kept`() async throws {
    server.replies.value = [(200, ["ETag": "\"a\"", "Content-Length": "1"], "12")]
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .badResponse)
    #expect(try server.names.isEmpty)
  }

  private struct Missing: Error {}

  private struct ScopeBehavior: RequestBehavior {
    let name: String
    func scope(for request: NetworkRequest) async -> String? { name }
  }

  @Test func `a download that accepts only 200 is still resumed`() async throws {
    let request = Request<NetworkResponse>.get("file").with(\.acceptableStatuses, [200])
    server.cuts.value = [300]
    try await server.client([.retry()]).download(request, to: server.destination)
    #expect(server.ranges == ["all -", "bytes=300- \"a\""])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `the rest of a long file arrives although a request accepts only 200`() async throws {
    // The chain keeps no more than 64 KiB of a body whose status the call does not accept.
    server.content.value = Data((0..<200_000).map { UInt8($0 % 251) })
    let request = Request<NetworkResponse>.get("file").with(\.acceptableStatuses, [200])
    server.cuts.value = [300]
    try await server.client([.retry()]).download(request, to: server.destination)
    #expect(server.ranges == ["all -", "bytes=300- \"a\""])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `another program's file with the partial name stays if no byte was written`() async throws {
    let other = server.destination.appendingPathExtension("partial")
    try Data("other".utf8).write(to: other)
    server.replies.value = [(404, [:], "no")]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    #expect(try Data(contentsOf: other) == Data("other".utf8))
  }

  @Test func `two paths to one folder are one destination`() async throws {
    let link = server.folder.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: server.folder)
    let gate = TestGate()
    let first = await server.waitingDownload(behind: gate)
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: link.appending(path: "file.bin"))
    }
    #expect(error?.code == .downloadInProgress)
    gate.open()
    _ = try await first.value
  }

  @Test func `a cached file is not mixed with the response that refreshes the cache`() async throws {
    let store = MemoryCacheStore()
    server.headers.value = ["ETag": "\"a\"", "Cache-Control": "max-age=0, stale-while-revalidate=60"]
    let client = server.client([.caching(store)])
    _ = try await client.send(.get("file").returning(Data.self))
    let old = server.content.value
    (server.content.value, server.headers.value["ETag"]) = (Data(repeating: 1, count: 5_000), "\"b\"")
    try await client.download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == old)
    #expect(server.requests.value.count == 1)
    #expect(try server.names == ["file.bin"])
  }

  @Test func `a length that is too large for an integer ends neither the process nor the download`() async throws {
    server.cuts.value = [300]
    let progress = TransferProgress()
    let request = Request<NetworkResponse>.get("file").with(\.progress, progress)
    await #expect(throws: NetworkError.self) { try await server.client().download(request, to: server.destination) }
    server.replies.value = [
      (
        206,
        [
          "ETag": "\"a\"", "Content-Range": "bytes 300-9223372036854775806/9223372036854775807",
          "Content-Length": "9223372036854775507",
        ], "abc"
      )
    ]
    let more = Request<NetworkResponse>.get("file").with(\.progress, TransferProgress())
    try await server.client().download(more, to: server.destination)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `existing folders with the names of partial files stay, and the error names them`() async throws {
    for name in ["file.bin.partial", "file.bin.partial.json"] {
      let folder = server.folder.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      try Data("notes".utf8).write(to: folder.appending(path: "notes.txt"))
      let error = await #expect(throws: NetworkError.self) {
        try await server.client().download(.get("file"), to: server.destination)
      }
      #expect(error?.code == .fileUnwritable)
      #expect(error.map { "\($0)" }?.contains(name) == true)
      #expect(try Data(contentsOf: folder.appending(path: "notes.txt")) == Data("notes".utf8))
      try FileManager.default.removeItem(at: folder)
    }
  }

  @Test func `the partial files of one download cannot be the destination of another`() async throws {
    let gate = TestGate()
    let first = await server.waitingDownload(behind: gate)
    for name in ["file.bin.partial", "file.bin.partial.json"] {
      let error = await #expect(throws: NetworkError.self) {
        try await server.client().download(.get("file"), to: server.folder.appending(path: name))
      }
      #expect(error?.code == .downloadInProgress)
    }
    gate.open()
    _ = try await first.value
    #expect(try server.names == ["file.bin"])
  }

  @Test(arguments: [242, 243, 255])
  func `a name may have the greatest length of the file system, and the download is resumed`(length: Int) async throws {
    let destination = server.folder.appending(path: String(repeating: "n", count: length))
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) { try await server.client().download(.get("file"), to: destination) }
    // The name of the record is 13 bytes longer; only a name that leaves no room for it is replaced.
    #expect(try server.names.contains(destination.lastPathComponent + ".partial") == (length == 242))
    try await server.client().download(.get("file"), to: destination)
    #expect(server.ranges == ["all -", "bytes=300- \"a\""])
    #expect(try server.names == [destination.lastPathComponent])
  }

  @Test func `a partial file that is complete must not exceed the limit either`() async throws {
    try await server.client([.retry()]).download(.get("file"), to: server.destination)
    server.cuts.value = [999]
    await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination)
    }
    let partial = server.destination.appendingPathExtension("partial")
    try server.content.value.write(to: partial)
    let error = await #expect(throws: NetworkError.self) {
      try await server.client().download(.get("file"), to: server.destination, limit: 500)
    }
    #expect(error?.code == .bodyTooLarge)
  }
}
