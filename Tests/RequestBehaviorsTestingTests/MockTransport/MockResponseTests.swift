import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct MockAnswerTests {
  let mock = MockTransport()

  func request(_ method: RequestMethod = .get, body: RequestBody? = nil) -> NetworkRequest {
    NetworkRequest(method, url: mock.baseURL, body: body)
  }

  private var streamed: NetworkRequest {
    var request = request()
    request.options.delivery = .streamed
    return request
  }

  @Test func `a stream has its chunks, and fails at the given place`() async throws {
    struct Broken: Error {}
    mock.on().stream([Data("a".utf8), Data("b".utf8)], headers: ["X": "1"])
      .stream([Data("c".utf8)], failingWith: Broken())
    let whole = try await mock.send(streamed)
    #expect(throws: NetworkError.self) { try whole.data }
    #expect(try await whole.buffered().text == "ab")
    #expect(whole.headers["X"] == "1")
    let half = try await mock.send(streamed)
    guard case .stream(let stream) = half.body else {
      Issue.record("no stream")
      return
    }
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == Data("c".utf8))
    await #expect(throws: Broken.self) { try await iterator.next() }
  }

  @Test func `a cancelled stream delivers no further chunk`() async throws {
    mock.on().stream([Data("a".utf8), Data("b".utf8)])
    guard case .stream(let stream) = try await mock.send(streamed).body else {
      Issue.record("no stream")
      return
    }
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == Data("a".utf8))
    stream.cancel()
    await #expect(throws: CancellationError.self) { try await iterator.next() }
  }

  @Test func `a body over the limit is refused`() async throws {
    mock.on().respond(text: "12345")
    var small = request()
    small.options.bodyLimit = 5
    #expect(try await mock.send(small).text == "12345")
    small.options.bodyLimit = 4
    let error = await #expect(throws: NetworkError.self) { try await mock.send(small) }
    #expect(error?.code == .bodyTooLarge)
  }

  @Test func `a response to HEAD and one of status 204 or 304 has no body`() async throws {
    mock.on(.head).respond(text: "a")
    mock.on(.get).respond(204, text: "a").respond(304, text: "a")
    #expect(try await mock.send(request(.head)).data.isEmpty)
    #expect(try await mock.send(request()).data.isEmpty)
    #expect(try await mock.send(request()).data.isEmpty)
  }

  @Test func `an invalid request is refused and not recorded`() async throws {
    mock.on().respond()
    let error = await #expect(throws: NetworkError.self) { try await mock.send(request("GE T")) }
    #expect(error?.code == .invalidRequest)
    #expect(mock.sent.isEmpty)
  }

  @Test func `a value that cannot be encoded fails the request`() async throws {
    mock.on().respond(json: Double.nan)
    let error = await #expect(throws: NetworkError.self) { try await mock.send(request()) }
    #expect(error?.code == .encodingFailed)
    #expect(error?.message.contains("any method any URL, Double,") == true)
  }

  @Test func `the encoder of the transport encodes values and names their type`() async throws {
    struct Shout: BodyEncoder {
      let contentType = "text/x-shout"
      func encode<Value: Encodable>(_ value: Value) throws -> Data { Data("\(value)!".utf8) }
    }
    let mock = MockTransport(encoder: Shout())
    mock.on().respond(json: 7)
    let response = try await mock.send(request())
    #expect(try response.text == "7!")
    #expect(response.headers["Content-Type"] == "text/x-shout")
  }

  @Test func `the body of a sent request can be read as text, form, query and JSON`() async throws {
    mock.on().respond()
    let form = RequestBody.data(Data("a=1+2&b=%26&a=3".utf8), contentType: "application/x-www-form-urlencoded")
    var request = request(.post, body: form)
    request.url = URL(string: "https://example.com/?q=a%20b%2B&q=+&flag")!
    _ = try await mock.send(request)
    let sent = mock.sent[0]
    #expect(try sent.text == "a=1+2&b=%26&a=3")
    #expect(try sent.form == ["a": "1 2", "b": "&", "a": "3"])
    #expect(sent.query == ["q": "a b+", "q": "+", "flag": ""])
    #expect(throws: DecodingError.self) { try sent.json(Int.self) }
    let missing = #expect(throws: NetworkError.self) { try NetworkRequest(url: mock.baseURL).text }
    #expect(missing?.code == .emptyBody)
    let stream = RequestBody.oneShot(ByteStream(chunks: []))
    let unread = #expect(throws: NetworkError.self) { try NetworkRequest(.post, url: mock.baseURL, body: stream).text }
    #expect(unread?.code == .bodyNotBuffered)
  }

  @Test func `files are sent as their bytes, and a missing one is an error`() async throws {
    mock.on().respond()
    let file = FileManager.default.temporaryDirectory.appending(path: "mock-\(UUID().uuidString)")
    let missing = await #expect(throws: NetworkError.self) { try await mock.send(request(.put, body: .file(file))) }
    #expect(missing?.code == .bodyUnreadable)
    try Data("bytes".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    _ = try await mock.send(request(.put, body: .file(file)))
    #expect(try mock.sent.map { try $0.text } == ["bytes"])
  }

  @Test func `a stub has the requests to which it responded`() async throws {
    let gets = mock.on(.get).respond()
    let posts = mock.on(.post).respond()
    _ = try await mock.send(request())
    _ = try await mock.send(request())
    #expect(gets.sent.count == 2)
    #expect(posts.sent.isEmpty)
  }

  @Test func `concurrent requests are all recorded, and each response is given as often as configured`() async throws {
    mock.on().respond(500).times(40).respond(200)
    let request = request()
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<100 { group.addTask { try await mock.send(request).statusCode } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses.filter { $0 == 500 }.count == 40)
    #expect(statuses.filter { $0 == 200 }.count == 60)
    #expect(await mock.waitForRequests(100).count == 100)
  }
}
