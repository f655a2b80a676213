import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.limited) struct TransportConnectionTests {
  @Test func `consecutive sends share a connection`() async throws {
    let server = try LoopbackServer { .text($0.text) }
    let transport = URLSessionTransport()
    for number in 0..<20 {
      let body: RequestBody? = number % 2 == 0 ? nil : .data(Data("\(number)".utf8))
      _ = try await transport.send(server.request(body == nil ? .get : .post, body: body))
    }
    #expect(server.connectionCount == 1)
  }

  @Test func `concurrent sends are not limited by the platform's default number of connections`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .status(200).held(by: gate) }
    let transport = URLSessionTransport()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<40 { group.addTask { try await transport.send(server.request()).statusCode } }
      await gate.waitForArrivals(40)
      gate.open()
      for try await status in group { #expect(status == 200) }
    }
  }

  @Test func `the limit on connections can be set`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .status(200).held(by: gate) }
    let transport = URLSessionTransport(configuration: .init(maximumConnectionsPerHost: 2))
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<10 { group.addTask { try await transport.send(server.request()).statusCode } }
      await gate.waitForArrivals(2)
      gate.open()
      for try await status in group { #expect(status == 200) }
    }
    #expect(server.connectionCount <= 2)
  }

  // Apple's URLSession may use fewer than it is told ("httpMaximumConnectionsPerHost").
  @Test(.enabled(if: isLinux))
  func `the default limit is 128 connections to a host, and further sends wait for one`() async throws {
    let gate = LoopbackGate()
    let server = try LoopbackServer { _ in .status(200).held(by: gate) }
    let transport = URLSessionTransport()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<140 { group.addTask { try await transport.send(server.request()).statusCode } }
      await gate.waitForArrivals(128)
      #expect(server.connectionCount == 128)
      gate.open()
      for try await status in group { #expect(status == 200) }
    }
    #expect(server.connectionCount == 128)
  }

  @Test func `a send that was answered with a challenge is over for the platform too`() async throws {
    let server = try LoopbackServer { _ in .text("hello") }
    server.enqueue(.text("who?", status: 401).header("WWW-Authenticate", "Basic realm=\"x\""))
    let transport = URLSessionTransport(configuration: .init(maximumConnectionsPerHost: 1))
    let findCall = try await challengedCall(server, transport)
    // The platform does one thing after the other: what the first of these begins, the second finds done.
    for _ in 1...2 { #expect(try await transport.send(server.request()).text == "hello") }
    #expect(findCall() == nil)
    #expect(server.connectionCount == 1)
  }

  /// Has a send answered with a challenge, and returns what finds its call if it is still there.
  private func challengedCall(
    _ server: LoopbackServer, _ transport: URLSessionTransport
  ) async throws -> () -> Call? {
    var options = RequestOptions()
    options.idleTimeout = nil
    let call = Call(options: options)
    let request = NetworkRequest(url: server.baseURL, options: options, call: call)
    #expect(try await transport.send(request).statusCode == 401)
    return { [weak call] in call }
  }

  @Test func `the platform keeps no responses, credentials or cookies`() {
    let configuration = URLSessionTransport.Configuration(maximumConnectionsPerHost: 0).makePlatformConfiguration()
    // With a cache, cancelling a task ends the process on Linux.
    #expect(configuration.urlCache == nil)
    #expect(configuration.urlCredentialStorage == nil)
    #expect(configuration.httpCookieStorage == nil)
    #expect(configuration.httpCookieAcceptPolicy == .never)
    #expect(!configuration.httpShouldSetCookies)
    #expect(configuration.httpMaximumConnectionsPerHost == 1)
  }

  @Test func `the platform's settings can be changed, and the transport's own are set after that`() {
    let configuration = URLSessionTransport.Configuration(maximumConnectionsPerHost: 3) { platform in
      platform.allowsCellularAccess = false
      platform.httpAdditionalHeaders = ["Authorization": "x"]
      platform.httpMaximumConnectionsPerHost = 1
      platform.urlCache = URLCache.shared
      platform.urlCredentialStorage = .shared
      platform.httpShouldSetCookies = true
      platform.timeoutIntervalForRequest = 1
      platform.timeoutIntervalForResource = 1
    }
    let made = configuration.makePlatformConfiguration()
    #expect(!made.allowsCellularAccess)
    #expect(made.httpAdditionalHeaders == nil)
    #expect(made.urlCache == nil)
    #expect(made.urlCredentialStorage == nil)
    #expect(made.httpMaximumConnectionsPerHost == 3)
    #expect(!made.httpShouldSetCookies)
    #expect(made.timeoutIntervalForRequest > 1_000_000)
    #expect(made.timeoutIntervalForResource > 1_000_000)
  }

  @Test func `a custom protocol class responds in place of the network`() async throws {
    let transport = URLSessionTransport(configuration: .init { $0.protocolClasses = [AnsweringProtocol.self] })
    let response = try await transport.send(NetworkRequest(url: baseURL))
    #expect(response.statusCode == 203)
    #expect(try response.text == "answered")
  }

  @Test func `connections are closed when the transport goes`() async throws {
    let server = try LoopbackServer { _ in .status(200) }
    var transport: URLSessionTransport? = URLSessionTransport()
    let isReleased = { [weak transport] in transport == nil }
    _ = try await transport?.send(server.request())
    #expect(server.openConnectionCount == 1)
    transport = nil
    #expect(isReleased())
    await server.waitForConnections(atMost: 0)
  }

  @Test func `a compressed body is decoded, and its header fields are left`() async throws {
    let compressed = Data(base64Encoded: "H4sIAAAAAAACA0tMHAWjYBSMgqEBACs6PfuwBAAA") ?? Data()
    let server = try LoopbackServer { _ in .data(compressed).header("Content-Encoding", "gzip") }
    let response = try await URLSessionTransport().send(server.request())
    #expect(try response.data == Data(repeating: UInt8(ascii: "a"), count: 1_200))
    #expect(response.headers["Content-Encoding"] == "gzip")
    #expect(response.headers["Content-Length"] == "\(compressed.count)")
  }

  @Test func `a scheme in capitals is understood`() async throws {
    let server = try LoopbackServer { _ in .status(204) }
    let url = try #require(URL(string: "HTTP://127.0.0.1:\(server.port)/a?b#c"))
    #expect(try await URLSessionTransport().send(NetworkRequest(url: url)).statusCode == 204)
    #expect(server.requests.first?.target == "/a?b")
  }
}

/// Answers every request by itself.
private final class AnsweringProtocol: URLProtocol {
  override class func canInit(with request: URLRequest) -> Bool { true }

  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  override func startLoading() {
    guard let url = request.url, let client,
      let response = HTTPURLResponse(url: url, statusCode: 203, httpVersion: nil, headerFields: ["X": "y"])
    else { return }
    client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client.urlProtocol(self, didLoad: Data("answered".utf8))
    client.urlProtocolDidFinishLoading(self)
  }

  override func stopLoading() {}
}
