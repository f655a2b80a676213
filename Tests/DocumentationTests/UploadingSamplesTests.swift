import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples of "Uploading".
@Suite(.limited) final class UploadingSamplesTests: Sendable {
  private let film: URL
  private var photo: URL { film }
  private let mock = MockTransport(baseURL: baseURL)
  private var client: NetworkClient { NetworkClient(baseURL: baseURL, transport: mock) }

  init() throws {
    film = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).film")
    try Data("film".utf8).write(to: film)
    mock.on(.put, "**").respond(204)
    mock.on(.post, "**").respond(201)
  }

  deinit { try? FileManager.default.removeItem(at: film) }

  @Test func `a file is sent`() async throws {
    try await client.send(
      .put("films/7", body: .file(film, contentType: "video/mp4")))
    #expect(mock.sent.first?.headers["Content-Type"] == "video/mp4")
  }

  @Test func `a file is sent in parts`() async throws {
    let length = Int64(20 << 20)
    try FileHandle(forWritingTo: film).truncate(atOffset: UInt64(length))
    let parts = stride(from: 0, to: length, by: 8 << 20)
    for (index, start) in parts.enumerated() {
      let range = start..<min(start + 8 << 20, length)
      try await client.send(
        .put(
          "films/7/parts/\(index)",
          body: .file(film, range: range, contentType: "video/mp4")))
    }
    #expect(mock.sent.map { $0.body?.length } == [8 << 20, 8 << 20, 4 << 20])
  }

  @Test func `a form is sent`() async throws {
    let form = RequestContent.multipart([
      .field("title", "Holiday"),
      .file("photo", photo, contentType: "image/jpeg"),
    ])
    try await client.send(.post("photos", body: form))
    #expect(try mock.sent.first?.text.contains("name=\"photo\"; filename=\"\(film.lastPathComponent)\"") == true)
  }

  @Test func `a form has parts of any content`() async throws {
    let (album, scan) = (["name": "Holiday"], Data("scan".utf8))
    let form = RequestContent.multipart([
      .part("album", .json(album)),
      .part(
        "scan", .data(scan, contentType: "image/png"),
        filename: "1.png"),
    ])
    try await client.send(.post("photos", body: form))
    #expect(try mock.sent.first?.text.contains("Content-Type: application/json") == true)
  }

  @Test func `a stream is sent`() async throws {
    let table = Table()
    let export = RequestContent.stream(contentType: "text/csv") {
      ByteStream(table.rows())
    }
    try await client.send(.post("imports", body: export))
    #expect(try mock.sent.first?.text == "a,b\n")
  }

  @Test func `progress is shown`() async throws {
    let progress = TransferProgress()
    let upload = Request<Void>.put("film", body: .file(film))
      .with(\.progress, progress)
    async let shown: Void = show(progress.states)
    try await client.send(upload)
    await shown
    #expect(progress.state.sent == 4)
  }

  @Test @MainActor func `progress is shown by a view`() async throws {
    let bar = Bar()
    let progress = TransferProgress { state in
      bar.value = state.fractionSent ?? 0
    }
    try await client.send(.put("film", body: .file(film)).with(\.progress, progress))
    #expect(progress.state.fractionSent == 1)
  }

  private func show(_ states: TransferProgress.States) async {
    for await state in states { print(state.sent) }
  }
}

@MainActor private final class Bar {
  var value = 0.0
}

private struct Table: Sendable {
  func rows() -> AsyncStream<Data> {
    AsyncStream { continuation in
      continuation.yield(Data("a,b\n".utf8))
      continuation.finish()
    }
  }
}
