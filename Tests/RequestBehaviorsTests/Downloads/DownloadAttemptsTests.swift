import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Behaviors further out than a download that send its request several times.
@Suite(.limited) struct DownloadAttemptsTests {
  private let server: DownloadFixture

  init() throws { server = try DownloadFixture() }

  /// A server whose response to each request has 600,000 bytes of the number of the request.
  ///
  /// - Parameters:
  ///   - slow: The number of the request whose body waits at the gate when a half of it has been read.
  ///   - isWriting: Counts the body that waits.
  ///   - mayGoOn: The gate.
  ///   - mayRespond: The gate at which the first request waits for its response; open by default.
  /// - Returns: The server.
  private func transport(
    holding slow: Int, _ isWriting: TestGate, _ mayGoOn: TestGate, first mayRespond: TestGate? = nil
  ) -> ClosureTransport {
    ClosureTransport(numbered: { number, request in
      if number == 1 { await mayRespond?.pass() }
      let parts = Box(Array(repeating: Data(repeating: UInt8(number), count: 300_000), count: 2))
      let body = AsyncThrowingStream<Data, any Error>(unfolding: {
        if number == slow, parts.value.count == 1 {
          isWriting.arrive()
          await mayGoOn.pass()
        }
        return parts.update { $0.isEmpty ? nil : $0.removeFirst() }
      })
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Length": "600000"], body: .stream(ByteStream(body)))
    })
  }

  @Test func `the bytes of two attempts at once are never in one file`() async throws {
    let (isWriting, mayGoOn) = (TestGate(), TestGate())
    let transport = transport(holding: 1, isWriting, mayGoOn)
    let error = Box<(any Error)?>(nil)
    let twice = ClosureBehavior("twice") { request, next in
      async let first = next(request)
      await isWriting.waitForArrivals(1)
      let second = try await next(request)
      mayGoOn.open()
      do { _ = try await first } catch let thrown { error.value = thrown }
      return second
    }
    try await NetworkClient(transport, [twice]).download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == Data(repeating: 2, count: 600_000))
    #expect((error.value as? NetworkError)?.code == .invalidBehavior)
    #expect(try server.names == ["file.bin"])
  }

  @Test func `an attempt whose response comes late leaves the file of a later one`() async throws {
    let (mayRespond, isWriting, mayGoOn) = (TestGate(), TestGate(), TestGate())
    let transport = transport(holding: 2, isWriting, mayGoOn, first: mayRespond)
    let error = Box<(any Error)?>(nil)
    let twice = ClosureBehavior("twice") { request, next in
      async let first = next(request)
      await mayRespond.waitForArrivals(1)
      async let second = next(request)
      await isWriting.waitForArrivals(1)
      mayRespond.open()
      do { _ = try await first } catch let thrown { error.value = thrown }
      mayGoOn.open()
      return try await second
    }
    try await NetworkClient(transport, [twice]).download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == Data(repeating: 2, count: 600_000))
    #expect((error.value as? NetworkError)?.code == .invalidBehavior)
  }

  @Test func `bytes of an attempt that failed are not taken for those of an earlier one`() async throws {
    try Data("old".utf8).write(to: server.destination)
    let again = ClosureBehavior("again") { [server] request, next in
      let first = try await next(request)
      server.headers.value = ["ETag": "\"b\""]
      server.cuts.value = [300]
      do { return try await next(request) } catch { return first }
    }
    let error = await #expect(throws: NetworkError.self) {
      try await server.client([again]).download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .fileUnwritable)
    #expect(try Data(contentsOf: server.destination) == Data("old".utf8))
  }

  @Test func `an attempt that goes on after its download has failed opens no file`() async throws {
    let (gate, sending) = (TestGate(), Box<Task<NetworkResponse, any Error>?>(nil))
    let late = ClosureBehavior("late", order: .last) { request, next in
      let response = try await next(request)
      await gate.pass()
      return response
    }
    let leaving = ClosureBehavior("leaving") { request, next in
      sending.value = Task { try await next(request) }
      await gate.waitForArrivals(1)
      throw Failure("left")
    }
    await #expect(throws: Failure.self) {
      try await server.client([leaving, late]).download(.get("file"), to: server.destination)
    }
    gate.open()
    let error = await #expect(throws: NetworkError.self) { try await sending.value?.value }
    #expect(error?.code == .invalidBehavior)
    #expect(try server.names == [])
  }

  @Test func `an attempt that writes nothing leaves the file of an earlier one`() async throws {
    let again = ClosureBehavior("again") { [server] request, next in
      let first = try await next(request)
      server.replies.value = [(500, [:], "trouble")]
      let second = try await next(request)
      return second.isAcceptable ? second : first
    }
    try await server.client([again]).download(.get("file"), to: server.destination)
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a request that goes on beside a download does not write its file`() async throws {
    let (mayBeSent, sending) = (TestGate(), Box<Task<NetworkResponse, any Error>?>(nil))
    let late = ClosureBehavior("late", order: .last) { request, next in
      await mayBeSent.pass()
      return try await next(request)
    }
    let stored = ClosureBehavior("stored") { request, next in
      sending.value = next.detached().start(request)
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data("stored".utf8)))
    }
    try await server.client([stored, late]).download(.get("file"), to: server.destination)
    mayBeSent.open()
    let response = try #require(try await sending.value?.value)
    var received = Data()
    for try await chunk in response.bytes { received += chunk }
    #expect(received == server.content.value)
    #expect(try Data(contentsOf: server.destination) == Data("stored".utf8))
    #expect(try server.names == ["file.bin"])
  }

  @Test(arguments: [1_000, 2_000_000])
  func `a body that a behavior makes of the file is read from it to its end`(count: Int) async throws {
    let content = Data((0..<count).map { UInt8($0 % 251) })
    server.content.value = content
    let rewrap = ClosureBehavior("rewrap") { request, next in
      var response = try await next(request)
      response.body = .stream(ByteStream(response.bytes))
      return response
    }
    let checksum = Checksum.sha256(Digest.sha256(of: content).hexadecimal)
    try await server.client([rewrap]).download(.get("file"), to: server.destination, checksum: checksum)
    #expect(try Data(contentsOf: server.destination) == content)
    #expect(try server.names == ["file.bin"])
  }

  @Test func `a body that a behavior makes of the file leaves no file when it fails`() async throws {
    let rewrap = ClosureBehavior("rewrap") { request, next in
      var response = try await next(request)
      let bytes = AsyncThrowingStream<Data, any Error>(unfolding: {
        throw NetworkError(.truncatedBody, "the test fails the body")
      })
      response.body = .stream(ByteStream(bytes))
      return response
    }
    let error = await #expect(throws: NetworkError.self) {
      try await server.client([rewrap]).download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .truncatedBody)
    #expect(try server.names.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a sign-out and a cancellation while another body is written leave no file`(isSignOut: Bool) async throws {
    let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })
    try await session.signIn(AccessToken("alice"))
    let gate = TestGate()
    let rewrap = ClosureBehavior("rewrap") { request, next in
      var response = try await next(request)
      let bytes = AsyncThrowingStream<Data, any Error>(unfolding: {
        await gate.pass()
        return nil
      })
      response.body = .stream(ByteStream(bytes))
      return response
    }
    let client = server.client([rewrap, .tokenAuth(session)])
    let download = Task { [server] in try await client.download(.get("file"), to: server.destination) }
    await gate.waitForArrivals(1)
    #expect(try server.names == ["file.bin.partial", "file.bin.partial.copy"])
    if isSignOut { try await session.signOut() } else { download.cancel() }
    gate.open()
    let result = await download.result
    #expect(throws: (any Error).self) { try result.get() }
    #expect(try server.names == [])
  }
}
