import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct RequestContentTests {
  private struct Draft: Codable, Equatable {
    var title: String
    var link = URL(string: "https://h/x")!
  }

  private struct LineEncoder: BodyEncoder {
    let contentType = "text/x-lines"
    func encode<Value: Encodable>(_ value: Value) throws -> Data { Data("\(value)".utf8) }
  }

  private func sent(_ content: RequestContent, headers: HeaderFields = [:], encoder: (any BodyEncoder)? = nil)
    async throws -> NetworkRequest
  {
    let transport = ClosureTransport()
    let client = NetworkClient(transport).with { if let encoder { $0.encoder = encoder } }
    try await client.send(.post("x", body: content, headers: headers))
    return try #require(transport.sent.first)
  }

  @Test func `JSON is encoded by the configuration's encoder and typed as such`() async throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    struct Snake: Encodable { let firstName = "a" }
    let request = try await sent(.json(Snake()), encoder: encoder)
    #expect(request.body?.data == Data(#"{"first_name":"a"}"#.utf8))
    #expect(request.headers["Content-Type"] == "application/json")
    let plain = try await sent(.json(Draft(title: "t")))
    #expect(plain.body?.data.map { String(decoding: $0, as: UTF8.self) }?.contains("https://h/x") == true)
  }

  @Test func `JSON stays JSON if the configuration's encoder produces another format`() async throws {
    let json = try await sent(.json(["a": 1]), encoder: LineEncoder())
    #expect(json.body?.data == Data(#"{"a":1}"#.utf8))
    let lines = try await sent(.encoding(7), encoder: LineEncoder())
    #expect(lines.body?.data == Data("7".utf8))
    #expect(lines.headers["Content-Type"] == "text/x-lines")
  }

  @Test func `a form is escaped like a query`() async throws {
    let request = try await sent(.form(["a": "1 +&", "b": ["x", "y"]]))
    #expect(request.body?.data == Data("a=1%20%2B%26&b=x&b=y".utf8))
    #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
  }

  @Test func `bytes, text and files have a type that the request's own header replaces`() async throws {
    #expect(try await sent(.data(Data([1]))).headers["Content-Type"] == "application/octet-stream")
    #expect(try await sent(.text("é")).headers["Content-Type"] == "text/plain; charset=utf-8")
    let file = try await sent(
      .file(URL(fileURLWithPath: "x"), contentType: "image/png"), headers: ["content-type": "a/b"])
    #expect(file.headers.values(for: "Content-Type") == ["a/b"])
  }

  @Test func `a part of a file has the length of its range and the type of a file`() async throws {
    let request = try await sent(.file(URL(fileURLWithPath: "x"), range: 3..<10))
    #expect(request.body?.length == 7)
    #expect(request.headers["Content-Type"] == "application/octet-stream")
    let endless = try await sent(.file(URL(fileURLWithPath: "x"), range: .min ..< .max, contentType: "image/png"))
    #expect(endless.body?.length == nil)
    #expect(endless.headers["Content-Type"] == "image/png")
  }

  @Test func `a retry sends the same part of a file again`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "part-\(UUID().uuidString)")
    try Data("0123456789".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let bodies = Box<[String]>([])
    let transport = ClosureTransport { request in
      let data = try await request.bodyData()
      let count = bodies.update { bodies in
        bodies.append(String(decoding: data, as: UTF8.self))
        return bodies.count
      }
      return NetworkResponse(request: request, statusCode: count == 1 ? 503 : 200)
    }
    let clock = ManualClock()
    let client = NetworkClient(transport).with { ($0.behaviors, $0.clock) = ([.retry()], clock.requestClock) }
    try await clock.run { try await client.send(.put("x", body: .file(file, range: 3..<7))) }
    #expect(bodies.value == ["3456", "3456"])
  }

  @Test func `a part that a file does not have fails with the part and the length of the file`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "part-\(UUID().uuidString)")
    try Data("0123456789".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let request = try await sent(.file(file, range: 8..<11))
    let error = await #expect(throws: NetworkError.self) { try await request.bodyData() }
    #expect(error?.code == .bodyUnreadable)
    #expect(error?.message == "the body file \(file.path) has 10 bytes, but bytes 8..<11 were to be sent")
  }

  @Test func `a value that cannot be encoded is an error that names type and place`() async {
    struct Ratio: Encodable { let value = Double.nan }
    let error = await #expect(throws: NetworkError.self) { _ = try await sent(.json(Ratio())) }
    #expect(error?.code == .encodingFailed)
    #expect(error?.message.contains("Ratio could not be encoded at value") == true)
  }

  @Test func `streams have a type and a length`() async throws {
    let stream = try await sent(.stream(contentType: "text/x", length: 1) { ByteStream(chunks: [Data([1])]) })
    #expect(stream.headers["Content-Type"] == "text/x")
    #expect(stream.body?.length == 1)
    let oneShot = try await sent(.oneShot(ByteStream(chunks: []), length: 0))
    #expect(oneShot.headers["Content-Type"] == "application/octet-stream")
    #expect(oneShot.body?.length == 0)
  }

  @Test func `if several readers take a one-shot stream, the first to read gets the chunks`() async throws {
    let body = RequestBody.oneShot(ByteStream(chunks: [Data("a".utf8), Data("b".utf8)]))
    guard case .oneShot(let stream) = body.content else { return #expect(Bool(false)) }
    let (first, second) = (try stream.take(), try stream.take())
    #expect(body.isReplayable)
    var iterator = second.makeAsyncIterator()
    #expect(try await iterator.next() == Data("a".utf8))
    #expect(!body.isReplayable)
    let error = await #expect(throws: NetworkError.self) { try await first.collect(upTo: 10) }
    #expect(error?.code == .bodyConsumed)
    #expect(try await iterator.next() == Data("b".utf8))
  }

  @Test func `a one-shot stream can be read once and knows that it was`() async throws {
    let body = RequestBody.oneShot(ByteStream(chunks: [Data("ab".utf8), Data("c".utf8)]), length: 3)
    guard case .oneShot(let stream) = body.content else { return #expect(Bool(false)) }
    #expect(body.isReplayable)
    #expect(try await stream.take().collect(upTo: 3) == Data("abc".utf8))
    #expect(!body.isReplayable)
    #expect(stream.isConsumed)
    let error = #expect(throws: NetworkError.self) { try stream.take() }
    #expect(error?.code == .bodyConsumed)
  }

  @Test func `a stream that is longer than the limit is cancelled`() async {
    let isCancelled = Box(false)
    let chunks = AsyncStream<Data> { continuation in
      continuation.yield(Data(count: 3))
      continuation.yield(Data(count: 3))
    }
    let stream = ByteStream(chunks, onCancel: { isCancelled.value = true })
    let error = await #expect(throws: NetworkError.self) { try await stream.collect(upTo: 5) }
    #expect(error?.code == .bodyTooLarge)
    #expect(isCancelled.value)
  }
}
