import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Bodies read line by line.
@Suite(.limited) struct ResponseLinesTests {
  @Test func `the lines of bytes, a file and a stream are the same`() async throws {
    let text = Data("one\r\ntwo\nthree".utf8)
    let file = FileManager.default.temporaryDirectory.appending(path: "lines-\(UUID().uuidString)")
    try text.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let stream = ByteStream(chunks: text.map { Data([$0]) })
    for body in [.data(text), .file(file), .stream(stream)] as [ResponseBody] {
      let response = NetworkResponse(request: NetworkRequest(url: baseURL), statusCode: 200, body: body)
      #expect(try await response.lines.all() == ["one", "two", "three"])
    }
  }

  @Test func `a line is available before the next one arrives`() async throws {
    let server = StreamFixture(.init("one\ntw", isOpen: true))
    let response = try await server.client().stream(.get("log"))
    var lines = response.lines.makeAsyncIterator()
    #expect(try await lines.next() == "one")
    #expect(server.cancellations.value == 0)
  }

  @Test func `leaving the loop cancels the stream`() async throws {
    let server = StreamFixture(.init("one\ntwo\n", isOpen: true))
    let lines = try await server.client().stream(.get("log")).lines
    for try await line in lines {
      #expect(line == "one")
      break
    }
    #expect(server.cancellations.value == 1)
  }

  @Test func `unread lines cancel the stream when they are released`() async throws {
    let server = StreamFixture(.init("one\n", isOpen: true))
    do {
      let lines = try await server.client().stream(.get("log")).lines
      #expect(server.cancellations.value == 0)
      _ = lines
    }
    #expect(server.cancellations.value == 1)
  }

  @Test func `a line that is too long ends the lines with an error and cancels the stream`() async throws {
    let server = StreamFixture(.init("one\ntoolong", isOpen: true))
    let lines = try await server.client().stream(.get("log")).lines.limit(bytes: 6)
    var read: [String] = []
    let error = await #expect(throws: NetworkError.self) {
      for try await line in lines { read.append(line) }
    }
    #expect(read == ["one"])
    #expect(error?.code == .lineTooLong)
    #expect(error?.message.contains("limit of 6 bytes") == true)
    #expect(server.cancellations.value == 1)
  }

  @Test func `a body that breaks off delivers its whole lines and then the error`() async throws {
    let server = StreamFixture(.init("one\ntw", error: .truncatedBody))
    let lines = try await server.client().stream(.get("log")).lines
    var read: [String] = []
    let error = await #expect(throws: NetworkError.self) {
      for try await line in lines { read.append(line) }
    }
    #expect(read == ["one"])
    #expect(error?.code == .truncatedBody)
  }

  @Test func `no line follows an error or the end`() async throws {
    let server = StreamFixture(.init("one", error: .truncatedBody))
    var lines = try await server.client().stream(.get("log")).lines.makeAsyncIterator()
    await #expect(throws: NetworkError.self) { try await lines.next() }
    #expect(try await lines.next() == nil)
  }
}

/// Bodies of one JSON text a line.
@Suite(.limited) struct JSONLinesTests {
  private struct User: Decodable, Equatable { let id: Int }

  private final class Model: Decodable { let id: Int }

  private static func server(_ chunks: String...) -> StreamFixture {
    var reply = StreamFixture.Reply().with(headers: ["Content-Type": "application/x-ndjson"])
    reply.chunks = chunks
    return StreamFixture(reply)
  }

  @Test func `every line is a value, and empty lines are skipped`() async throws {
    let server = JSONLinesTests.server("{\"id\":1}\n\n \t\r\n{\"id\"", ":2}\n{\"id\":3}")
    let users: JSONLines<User> = server.client().jsonLines(.get("users"))
    #expect(server.requests.value.isEmpty)
    #expect(try await users.all() == [User(id: 1), User(id: 2), User(id: 3)])
    #expect(server.requests.value.map(\.options.delivery) == [.streamed])
  }

  @Test func `values need not be Sendable`() async throws {
    let server = JSONLinesTests.server("{\"id\":1}\n{\"id\":2}\n")
    var ids: [Int] = []
    for try await model: Model in server.client().jsonLines(.get("models")) { ids.append(model.id) }
    #expect(ids == [1, 2])
  }

  @Test func `the error for a line that does not fit has its number, and hides secrets`() async throws {
    let server = JSONLinesTests.server("{\"id\":1}\n\n{\"id\":\"x\",\"password\":\"canary\"}\n{\"id\":4}\n")
    let users: JSONLines<User> = server.client().jsonLines(.get("users"))
    var read: [User] = []
    let error = await #expect(throws: NetworkError.self) {
      for try await user in users { read.append(user) }
    }
    #expect(read == [User(id: 1)])
    #expect(error?.code == .decodingFailed)
    #expect(error?.message.hasPrefix("line 3: User") == true)
    #expect(error.map { !"\($0)".contains("canary") && "\($0)".contains("id") } == true)
    #expect(server.cancellations.value <= 1)
  }

  @Test func `an unacceptable status is thrown when the first value is wanted`() async throws {
    let server = StreamFixture(StreamFixture.Reply("no").with(status: 403, headers: [:]))
    let users: JSONLines<User> = server.client().jsonLines(.get("users"))
    let error = await #expect(throws: NetworkError.self) { try await users.all() }
    #expect(error?.statusCode == 403)
  }

  @Test func `lines of a response decode one by one, too`() async throws {
    let response = NetworkResponse(
      request: NetworkRequest(url: baseURL), statusCode: 200, body: .data(Data("{\"id\":1}\n{\"id\":2}".utf8)))
    #expect(try await response.lines.decode(User.self).limit(bytes: 8).all() == [User(id: 1), User(id: 2)])
    let error = await #expect(throws: NetworkError.self) {
      try await response.lines.decode(User.self).limit(bytes: 7).all()
    }
    #expect(error?.code == .lineTooLong)
  }

  @Test func `values of lines are decoded at the path that the request names`() async throws {
    let server = StreamFixture(.init("{\"item\":{\"id\":1}}\n{\"item\":{\"id\":2}}\n").with(headers: [:]))
    let request = Request<Int>.get("export").decoding(at: "item.id")
    #expect(try await server.client().jsonLines(request).all() == [1, 2])
  }
}
