import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// Each fault on the wire.
@Suite(.limited) struct LoopbackFaultTests {
  private let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
  private let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
  private let digits = LoopbackResponse(body: Data("0123456789".utf8))

  private func answer(_ response: LoopbackResponse) async throws -> String {
    let server = try LoopbackServer()
    server.enqueue(response)
    return try await RawClient(port: server.port).exchange(get)
  }

  @Test func `the connection is closed after the given part of the response`() async throws {
    #expect(try await answer(digits.fault(.close, at: .request)) == "")
    #expect(try await answer(digits.fault(.close, at: .head(after: 5))) == "HTTP/")
    #expect(
      try await answer(digits.fault(.close, at: .head(after: 1_000)))
        == String(decoding: head.utf8.dropLast(), as: UTF8.self))
    #expect(try await answer(digits.fault(.close, at: .body)) == head)
    #expect(try await answer(digits.fault(.close, at: .body(after: 4))) == head + "0123")
    #expect(try await answer(digits.fault(.close, at: .body(after: 99))) == head + "0123456789")
    #expect(try await answer(digits.fault(.close, at: .end)) == head + "0123456789")
    #expect(
      try await answer(.chunked(["abc"]).fault(.close, at: .body(after: 4)))
        == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na")
  }

  @Test func `the connection is reset before the head and inside the body`() async throws {
    let early = await #expect(throws: RawClient.Failure.self) { try await answer(digits.fault(.reset, at: .request)) }
    #expect(early?.code == ECONNRESET)
    let gate = LoopbackGate()
    let server = try LoopbackServer()
    server.enqueue(digits.held(by: gate, at: .body(after: 4)).fault(.reset, at: .body(after: 4)))
    let client = try RawClient(port: server.port)
    try client.send(get)
    #expect(try await client.readHead() + client.read(4) == head + "0123")
    gate.open()
    let failure = await #expect(throws: RawClient.Failure.self) { try await client.readToEnd() }
    #expect(failure?.code == ECONNRESET)
  }

  @Test func `a stalled connection stays open until the client or the server ends it`() async throws {
    let server = try LoopbackServer()
    server.enqueue(digits.fault(.stall, at: .body(after: 2)), digits.fault(.stall, at: .request))
    try await {
      let client = try RawClient(port: server.port)
      try client.send(get)
      #expect(try await client.readHead() + client.read(2) == head + "01")
      #expect(server.openConnectionCount == 1)
    }()
    await server.waitForConnections(atMost: 0)
    let client = try RawClient(port: server.port)
    try client.send(get)
    await server.waitForRequests(2)
    server.stop()
    #expect(try await client.readToEnd() == "")
  }

  @Test func `a connection is closed or reset when it is accepted, and uses up a response of the queue`()
    async throws
  {
    let server = try LoopbackServer()
    server.enqueue(digits.fault(.close, at: .accept), digits.fault(.reset, at: .accept), digits)
    #expect(try await RawClient(port: server.port).readToEnd() == "")
    let second = try RawClient(port: server.port)
    let failure = await #expect(throws: RawClient.Failure.self) { try await second.readToEnd() }
    #expect(failure?.code == ECONNRESET)
    let third = try RawClient(port: server.port)
    try third.send(get)
    #expect(try await third.readHead() == head)
    #expect(server.connectionCount == 3)
    #expect(server.requestCount == 1)
  }

  @Test func `a fault at accept happens at the next request of an open connection`() async throws {
    let server = try LoopbackServer()
    server.enqueue(digits, digits.fault(.close, at: .accept))
    let client = try RawClient(port: server.port)
    #expect(try await client.exchange(get + get) == head + "0123456789")
    #expect(server.requestCount == 2)
  }

  @Test(arguments: [LoopbackFault.close, .reset])
  func `a kept-alive connection is dropped as its next request arrives`(fault: LoopbackFault) async throws {
    let server = try LoopbackServer { [digits] _ in digits }
    server.enqueue(digits.fault(fault, at: .nextRequest))
    let client = try RawClient(port: server.port)
    try client.send(get)
    #expect(try await client.readHead() + client.read(10) == head + "0123456789")
    #expect(server.openConnectionCount == 1)
    try client.send("G")
    if fault == .close {
      #expect(try await client.readToEnd() == "")
    } else {
      let failure = await #expect(throws: RawClient.Failure.self) { try await client.readToEnd() }
      #expect(failure?.code == ECONNRESET)
    }
    #expect(server.requestCount == 1)
  }

  @Test func `the response of a handler can be broken off too`() async throws {
    let server = try LoopbackServer { [digits] _ in digits.fault(.close, at: .body(after: 1)) }
    #expect(try await RawClient(port: server.port).exchange(get) == head + "0")
  }

  @Test func `a delayed or throttled response arrives whole, and not earlier`() async throws {
    let clock = ContinuousClock()
    let start = clock.now
    let delayed = digits.delayed(by: .milliseconds(5)).delayed(by: .milliseconds(5), at: .body)
    #expect(try await answer(delayed.fault(.close, at: .end)) == head + "0123456789")
    #expect(clock.now - start >= .milliseconds(10))
    let throttled = digits.throttled(bytes: 3, every: .milliseconds(5)).fault(.close, at: .end)
    let middle = clock.now
    #expect(try await answer(throttled) == head + "0123456789")
    #expect(clock.now - middle >= .milliseconds(15))
  }

  @Test func `a connection that the server closed is not counted, even if the client keeps its end`() async throws {
    let server = try LoopbackServer()
    server.enqueue(digits.fault(.close, at: .end))
    let client = try RawClient(port: server.port)
    try client.send(get)
    await server.waitForConnections(atMost: 0)
    #expect(try await client.readToEnd() == head + "0123456789")
  }

  @Test func `clients that leave in the middle of a body release their connections`() async throws {
    let server = try LoopbackServer { _ in .data(Data(repeating: 0x41, count: 65_536), repeated: 1_000) }
    for _ in 0..<5 {
      let client = try RawClient(port: server.port)
      try client.send(get)
      #expect(try await client.readHead().contains("Content-Length: 65536000"))
    }
    await server.waitForConnections(atMost: 0)
    #expect(server.connectionCount == 5)
  }

  @Test func `a server that stops in the middle of a body raises no signal`() async throws {
    let server = try LoopbackServer { _ in .data(Data(repeating: 0x41, count: 65_536), repeated: 1_000) }
    let client = try RawClient(port: server.port)
    try client.send(get)
    #expect(try await client.readHead().contains("Content-Length: 65536000"))
    server.stop()
    await server.waitForConnections(atMost: 0)
    #expect(try await client.readToEnd().utf8.count < 65_536_000)
  }
}
