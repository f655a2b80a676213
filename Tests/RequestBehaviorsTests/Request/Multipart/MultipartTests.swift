import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) final class MultipartTests: Sendable {
  private let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "multipart-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  private func file(_ content: String, named name: String = "photo.jpg") throws -> URL {
    let url = directory.appending(path: name)
    try Data(content.utf8).write(to: url)
    return url
  }

  private func sent(_ parts: [MultipartPart]) async throws -> NetworkRequest {
    let transport = ClosureTransport()
    try await NetworkClient(transport).send(.post("photos", body: .multipart(parts)))
    return try #require(transport.sent.first)
  }

  private func parts(of request: NetworkRequest) async throws -> [ReadPart] {
    let type = try #require(request.headers["Content-Type"])
    return try StrictMultipartReader.parts(of: try await request.bodyData(), contentType: type)
  }

  @Test func `a form has a part of a file, and knows its length`() async throws {
    let file = try file("0123456789")
    let request = try await sent([.part("part", .file(file, range: 3..<7), filename: "photo.jpg")])
    #expect(try await parts(of: request).map(\.content) == [Data("3456".utf8)])
    #expect(try await request.bodyData().count == request.body?.length.map(Int.init))
  }

  @Test func `a form of fields and bytes is laid out as RFC 7578 shows`() async throws {
    let request = try await sent([
      .field("title", "Grüße"), .part("meta", .json(["a": 1])),
      .part("icon", .data(Data([0, 13, 10]), contentType: "image/png"), filename: "i.png"),
    ])
    let type = try #require(request.headers["Content-Type"])
    #expect(type.hasPrefix("multipart/form-data; boundary=form-"))
    let boundary = type.dropFirst("multipart/form-data; boundary=".count)
    let expected = """
      --\(boundary)\r
      Content-Disposition: form-data; name="title"\r
      \r
      Grüße\r
      --\(boundary)\r
      Content-Disposition: form-data; name="meta"\r
      Content-Type: application/json\r
      \r
      {"a":1}\r
      --\(boundary)\r
      Content-Disposition: form-data; name="icon"; filename="i.png"\r
      Content-Type: image/png\r
      \r
      \u{0}\r
      \r
      --\(boundary)--\r

      """
    #expect(request.body?.data == Data(expected.utf8))
    #expect(request.body?.length == Int64(expected.utf8.count))
  }

  @Test(arguments: [
    ("plain", "plain"), ("a\"b", "a%22b"), ("a\r\nX: y", "a%0D%0AX: y"), ("naïve 文件 %22\\", "naïve 文件 %22\\"),
    ("", ""),
  ])
  func `names are escaped as browsers do`(name: String, escaped: String) async throws {
    let request = try await sent([.part(name, .data(Data(), contentType: "a/b"), filename: name)])
    let head = try await parts(of: request)[0].head
    #expect(
      head == ["Content-Disposition: form-data; name=\"\(escaped)\"; filename=\"\(escaped)\"", "Content-Type: a/b"])
  }

  @Test func `a media type that would end its line is refused`() async throws {
    let form = RequestContent.multipart([.part("a", .data(Data(), contentType: "a/b\r\nX: y"))])
    let transport = ClosureTransport()
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(transport).send(.post("photos", body: form))
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("the media type of the part \"a\"") == true)
    #expect(transport.sent.isEmpty)
  }

  @Test func `a file part has the file's name, and is read again for every send`() async throws {
    let url = try file("first")
    let request = try await sent([.file("photo", url, contentType: "image/jpeg"), .field("n", "1")])
    let body = try #require(request.body)
    #expect(body.data == nil)
    #expect(body.isReplayable)
    for _ in 0..<2 {
      let read = try await parts(of: request)
      #expect(read[0].head[0].hasSuffix("name=\"photo\"; filename=\"photo.jpg\""))
      #expect(read[0].head[1] == "Content-Type: image/jpeg")
      #expect(read.map(\.content) == [Data("first".utf8), Data("1".utf8)])
    }
    #expect(try await Int64(request.bodyData().count) == body.length)
  }

  @Test func `the length is known when every part's is`() async throws {
    let chunks = [Data("ab".utf8), Data(), Data("c".utf8)]
    let stream = RequestBody.stream(length: 3) { ByteStream(chunks: chunks) }
    let known = try await sent([.part("a", .body(stream)), .field("b", "1")])
    #expect(try await Int64(known.bodyData().count) == known.body?.length)
    let unknown = try await sent([.part("a", .body(.stream { ByteStream(chunks: chunks) })), .field("b", "1")])
    #expect(unknown.body?.length == nil)
    #expect(try await parts(of: unknown).map(\.content) == [Data("abc".utf8), Data("1".utf8)])
  }

  @Test func `a file that is missing fails the call before anything is sent`() async throws {
    let transport = ClosureTransport()
    let form = RequestContent.multipart([.file("photo", directory.appending(path: "none"))])
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(transport).send(.post("photos", body: form))
    }
    #expect(error?.code == .bodyUnreadable)
    #expect(error?.mayHaveArrived == false)
    #expect(transport.sent.isEmpty)
  }

  @Test(arguments: ["longer than it was", "s"])
  func `a file that changes before it is read fails the send`(content: String) async throws {
    let url = try file("before")
    let request = try await sent([.file("photo", url)])
    try Data(content.utf8).write(to: url)
    let error = await #expect(throws: NetworkError.self) { try await request.bodyData() }
    #expect(error?.code == .bodyUnreadable)
    #expect(error?.message.contains("the part \"photo\" of the form has") == true)
  }

  @Test func `a form with a one-shot stream can be sent once`() async throws {
    let stream = RequestBody.oneShot(ByteStream(chunks: [Data("once".utf8)]), length: 4)
    let form = RequestContent.multipart([.field("a", "1"), .part("b", .body(stream))])
    let transport = ClosureTransport { request in
      let data = try await request.bodyData()
      #expect(request.body?.length == Int64(data.count))
      return NetworkResponse(request: request, statusCode: 200)
    }
    let client = NetworkClient(transport)
    try await client.send(.post("photos", body: form))
    #expect(transport.sent.first?.body?.isReplayable == false)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.post("photos", body: form)) }
    #expect(error?.code == .bodyConsumed)
    #expect(transport.sent.count == 1)
  }

  @Test func `a form that is not sent ends the one-shot streams among its parts`() async throws {
    let ended = Box<[String]>([])
    let (one, two) = (oneShot("one", ended), oneShot("two", ended))
    let broken = RequestContent.multipart([
      .part("a", .body(one)), .file("b", directory.appending(path: "none")), .part("c", .body(two)),
    ])
    await #expect(throws: NetworkError.self) {
      try await NetworkClient(ClosureTransport()).send(.post("photos", body: broken))
    }
    #expect(ended.value == ["one", "two"])
  }

  @Test func `a form that is left halfway cancels the current part and those after it`() async throws {
    let ended = Box<[String]>([])
    let (one, two) = (oneShot("one", ended), oneShot("two", ended))
    let transport = ClosureTransport { request in
      guard case .oneShot(let stream)? = request.body?.content else { throw CancellationError() }
      let chunks = try stream.take()
      var iterator = chunks.makeAsyncIterator()
      for _ in 0..<2 { _ = try await iterator.next() }
      chunks.cancel()
      return NetworkResponse(request: request, statusCode: 200)
    }
    let form = RequestContent.multipart([.part("a", .body(one)), .part("b", .body(two))])
    try await NetworkClient(transport).send(.post("photos", body: form))
    #expect(ended.value == ["one", "two"])
  }

  private func oneShot(_ name: String, _ ended: Box<[String]>) -> RequestBody {
    .oneShot(ByteStream(chunks: [Data(name.utf8)]).ending { ended.update { $0.append(name) } })
  }

  @Test func `a retry sends the same form again, with the same boundary`() async throws {
    let url = try file("photo")
    let bodies = Box<[Data]>([])
    let transport = ClosureTransport { request in
      let data = try await request.bodyData()
      let count = bodies.update {
        $0.append(data)
        return $0.count
      }
      return NetworkResponse(request: request, statusCode: count == 1 ? 503 : 200)
    }
    let client = NetworkClient(transport, LeapingClock().requestClock, [.retry()])
    let request = Request<Void>.put("photos", body: .multipart([.file("photo", url), .field("a", "1")]))
    try await client.send(request)
    try #require(bodies.value.count == 2)
    #expect(bodies.value[0] == bodies.value[1])
  }

  @Test func `a length that is too large for an integer is an error`() async throws {
    let part = MultipartPart.part("s", .stream(length: .max) { ByteStream(chunks: []) })
    let error = await #expect(throws: NetworkError.self) { try await sent([part]) }
    #expect(error?.code == .invalidRequest)
  }

  @Test func `the boundary is sent although the request names the type of the form`() async throws {
    let transport = ClosureTransport()
    let client = NetworkClient(transport)
    let form = RequestContent.multipart([.field("a", "1")])
    try await client.send(.post("x", body: form, headers: ["Content-Type": "multipart/form-data"]))
    #expect(transport.sent[0].headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=form-") == true)
    let own = "multipart/related; Boundary=mine"
    try await client.send(.post("x", body: form, headers: ["Content-Type": own]))
    #expect(transport.sent[1].headers["Content-Type"] == own)
  }
}

extension ByteStream {
  fileprivate func ending(_ onCancel: @escaping @Sendable () -> Void) -> ByteStream {
    ByteStream(self, onCancel: onCancel)
  }
}
