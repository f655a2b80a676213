import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@testable import RequestBehaviorsOAuth2

/// The redirect URI on this machine (RFC 8252 §7.3), over real connections.
@Suite(.limited) struct LoopbackRedirectTests {
  private let loopback: LoopbackRedirect
  private let clock = ManualClock()
  private let browser = NetworkClient(baseURL: url("https://unused.example"))

  init() throws {
    // The clock of connections must advance, or none would be closed.
    loopback = try LoopbackRedirect(path: "/done")
  }

  private func page(_ state: String) -> URL { url("https://id.example/authorize?state=\(state)") }

  /// Returns the status of a request to the redirect URI's address.
  private func status(
    _ target: String, _ method: RequestMethod = .get, host: String? = nil
  ) async throws -> Int {
    let origin = loopback.url.absoluteString.replacing("/done", with: "")
    var request = Request<NetworkResponse>(method, url: url(origin + target)).with(\.acceptableStatuses, .all)
    if let host { request = request.with(header: "Host", host) }
    return try await browser.send(request).statusCode
  }

  @Test func `the URL is an address of this machine with a port`() {
    #expect(loopback.url.absoluteString.hasPrefix("http://127.0.0.1:"))
    #expect(loopback.url.path() == "/done")
  }

  @Test func `only the right request ends the sign-in`() async throws {
    let task = Task { try await loopback.callback(for: page("S1")) }
    while try await status("/done?state=S1", .put) != 405 { await Task.yield() }
    #expect(try await status("/favicon.ico") == 404)
    #expect(try await status("/done/?code=x&state=S1") == 404)
    #expect(try await status("/done?state=S2") == 400)
    #expect(try await status("/done?code=x&error=y&state=S2") == 400)
    #expect(try await status("/done?code=x") == 400)
    #expect(try await status("/done?code=x&state=") == 400)
    #expect(try await status("/done?code=x&state=S1&state=S1") == 400)
    #expect(try await status("/done?code=x&state=S1", .post) == 405)
    let task200 = try await status("/done?code=abc&state=S1")
    #expect(task200 == 200)
    #expect(try await task.value.absoluteString == loopback.url.absoluteString + "?code=abc&state=S1")
    // A reload shows the same page.
    #expect(try await status("/done?code=abc&state=S1") == 200)
  }

  @Test func `two sign-ins wait at once`() async throws {
    let first = Task { try await loopback.callback(for: page("A")) }
    let second = Task { try await loopback.callback(for: page("B")) }
    while try await status("/done?code=2&state=B") != 200 { await Task.yield() }
    while try await status("/done?code=1&state=A") != 200 { await Task.yield() }
    #expect(try await first.value.query() == "code=1&state=A")
    #expect(try await second.value.query() == "code=2&state=B")
  }

  @Test func `the fields of the page forbid storing, referrers and loading`() async throws {
    let task = Task { try await loopback.callback(for: page("S1")) }
    var response: NetworkResponse?
    while response?.statusCode != 200 {
      response = try await browser.send(
        Request<NetworkResponse>.get(url: url(loopback.url.absoluteString + "?code=1&state=S1"))
          .with(\.acceptableStatuses, .all))
    }
    _ = try await task.value
    #expect(response?.headers["Cache-Control"] == "no-store")
    #expect(response?.headers["Referrer-Policy"] == "no-referrer")
    #expect(response?.headers["Content-Security-Policy"] == "default-src 'none'")
    #expect(response?.headers["Connection"] == "close")
  }

  @Test(arguments: [("<p>Thank you.</p>", "text/html; charset=utf-8"), ("Thank you.", "text/plain; charset=utf-8")])
  func `a page with tags is sent as HTML, and a sentence as text`(page text: String, type: String) async throws {
    let loopback = try LoopbackRedirect(page: text)
    async let callback = loopback.callback(for: page("S1"))
    var response: NetworkResponse?
    while response?.statusCode != 200 {
      response = try await browser.send(
        Request<NetworkResponse>.get(url: url(loopback.url.absoluteString + "?code=1&state=S1"))
          .with(\.acceptableStatuses, .all))
    }
    _ = try await callback
    #expect(response?.headers["Content-Type"] == type)
    #expect(try response?.data == Data(text.utf8))
  }

  @Test func `a user who refuses is not shown a success`() async throws {
    let (success, refusal) = ("Thank you.", "The server refused the sign-in. You can close this page.\n")
    let loopback = try LoopbackRedirect(page: success)
    func text(_ query: String) async throws -> String {
      try await browser.send(
        Request<NetworkResponse>.get(url: url(loopback.url.absoluteString + query)).with(\.acceptableStatuses, .all)
      ).text
    }
    _ = try await text("?error=access_denied&state=S1")
    #expect(try await loopback.callback(for: page("S1")).query() == "error=access_denied&state=S1")
    #expect(try await text("?error=access_denied&state=S1") == refusal)
    _ = try await text("?code=1&state=S2")
    #expect(try await loopback.callback(for: page("S2")).query() == "code=1&state=S2")
    #expect(try await text("?code=1&state=S2") == success)
  }

  @Test func `a page arrives whole, and a page that might be cut off is refused`() async throws {
    let page = String(repeating: "x", count: 65_536)
    let loopback = try LoopbackRedirect(page: page)
    func get() async throws -> NetworkResponse {
      try await browser.send(
        Request<NetworkResponse>.get(url: url(loopback.url.absoluteString + "?code=1&state=S1"))
          .with(\.acceptableStatuses, .all))
    }
    #expect(try await get().statusCode == 202)
    _ = try await loopback.callback(for: self.page("S1"))
    #expect(try await get().text == page)
    let error = #expect(throws: NetworkError.self) { try LoopbackRedirect(page: page + "x") }
    #expect(error?.code == .oauth2InvalidServer)
    #expect(error?.message.contains("65537") == true)
  }

  @Test func `a cancellation ends the wait`() async throws {
    let task = Task { try await loopback.callback(for: page("S1")) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await status("/done?state=S1") == 400)
  }

  @Test func `a callback that comes early is kept for its sign-in`() async throws {
    #expect(try await status("/done?code=early&state=S1") == 202)
    #expect(try await status("/done?code=other&state=S2") == 202)
    #expect(try await loopback.callback(for: page("S1")).query() == "code=early&state=S1")
    // A reload shows the page of a sign-in that has ended.
    #expect(try await status("/done?code=early&state=S1") == 200)
    #expect(try await loopback.callback(for: page("S2")).query() == "code=other&state=S2")
  }

  @Test func `an early error is kept too`() async throws {
    #expect(try await status("/done?error=access_denied&state=S1") == 202)
    #expect(try await loopback.callback(for: page("S1")).query() == "error=access_denied&state=S1")
  }

  @Test func `the sixteen newest of the early callbacks are kept`() async throws {
    for number in 1...17 { #expect(try await status("/done?code=\(number)&state=S\(number)") == 202) }
    #expect(try await loopback.callback(for: page("S2")).query() == "code=2&state=S2")
    let first = Task { try await loopback.callback(for: page("S1")) }
    while try await status("/done?code=again&state=S1") != 200 { await Task.yield() }
    #expect(try await first.value.query() == "code=again&state=S1")
  }

  @Test func `a second wait for a sign-in ends the first wait, and outlasts it`() async throws {
    let first = Task { try await loopback.callback(for: page("S1")) }
    while try await status("/done?state=S1", .put) != 405 { await Task.yield() }
    let second = Task { try await loopback.callback(for: page("S1")) }
    let result = await first.result
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(try await status("/done?code=1&state=S1") == 200)
    #expect(try await second.value.query() == "code=1&state=S1")
  }

  @Test func `idle connections of other programs do not block the browser`() async throws {
    let port = try #require(loopback.url.port)
    let idle = try (0..<40).map { _ in try IdleConnection(port: UInt16(port)) }
    #expect(try await status("/favicon.ico") == 404)
    #expect(idle.count == 40)
  }

  @Test(arguments: [
    "GET /done?code=x&state=S1 HTTP/1.1\r\nHo", "G", "\r\n\r\n\r\n", String(repeating: "x", count: 40_000),
    "GET /done?code=x&state=S2 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "POST /done HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" + String(repeating: "y", count: 20_000),
  ])
  func `32 hostile connections neither end the sign-in nor block the browser`(text: String) async throws {
    let task = Task { try await loopback.callback(for: page("S1")) }
    while try await status("/done?state=S1", .put) != 405 { await Task.yield() }
    let port = UInt16(try #require(loopback.url.port))
    let hostile = try (0..<32).map { _ in
      let connection = try IdleConnection(port: port)
      connection.send(text)
      return connection
    }
    #expect(try await status("/favicon.ico") == 404)
    #expect(try await status("/done?code=abc&state=S1") == 200)
    #expect(try await task.value.query() == "code=abc&state=S1")
    #expect(hostile.count == 32)
  }

  @Test func `continual new connections do not block the browser`() async throws {
    let port = UInt16(try #require(loopback.url.port))
    let isOver = Locked(false)
    Thread.detachNewThread {
      while !isOver.withLock({ $0 }) {
        let connections = (0..<40).compactMap { _ in try? IdleConnection(port: port) }
        for connection in connections { connection.send("GET /") }
      }
    }
    defer { isOver.withLock { $0 = true } }
    // One of the browser's own can be the oldest of 32 before its request has come; a browser connects again.
    var served = 0
    while served < 20 {
      if (try? await status("/favicon.ico")) == 404 { served += 1 }
    }
    #expect(served == 20)
  }

  @Test func `a path without a slash is refused before a port is opened`() throws {
    // The port is in use, which only an attempt to open it would show.
    let port = UInt16(try #require(loopback.url.port))
    let error = #expect(throws: NetworkError.self) { try LoopbackRedirect(port: port, path: "done") }
    #expect(error?.message.contains("must begin with a slash: done") == true)
  }

  @Test(arguments: ["/done?app=1", "/done#part"])
  func `a path with a query or a fragment is refused`(path: String) {
    let error = #expect(throws: NetworkError.self) { try LoopbackRedirect(path: path) }
    #expect(error?.code == .oauth2InvalidServer)
  }

  @Test func `five minutes end the wait`() async throws {
    let loopback = try LoopbackRedirect(clock: clock.requestClock)
    let task = Task { try await loopback.callback(for: page("S1")) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(300))
    #expect(await errorCode { _ = try await task.value } == .oauth2Expired)
  }

  @Test func `the error for a port in use names the port`() throws {
    let port = UInt16(loopback.url.port ?? 0)
    let error = #expect(throws: NetworkError.self) { try LoopbackRedirect(port: port) }
    #expect(error?.code == .oauth2InvalidServer)
    #expect(error?.message.contains("port \(port)") == true)
  }

  @Test func `a page without a state is refused`() async throws {
    let code = await errorCode { _ = try await loopback.callback(for: url("https://id.example/authorize")) }
    #expect(code == .oauth2InvalidServer)
  }

  @Test func `a sign-in finishes with the callback of the listener`() async throws {
    let fixture = OAuth2Fixture()
    fixture.respond()
    let flow = fixture.flow(redirect: loopback.url)
    let grant = try await flow.signIn { page in
      let state = items(of: page).first { $0.0 == "state" }?.1 ?? ""
      async let found = loopback.callback(for: page)
      while try await status("/done?code=abc&state=\(state)") != 200 { await Task.yield() }
      return try await found
    }
    #expect(grant.token.value == "A")
    #expect(try fixture.mock.sent[0].form.items[2].value == loopback.url.absoluteString)
  }

  // MARK: - Heads of requests

  private static let address = "http://127.0.0.1:8080/done"

  static let heads: [(String, Int)] = [
    ("GET /done?state=S HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", 200),
    ("GET /done?code=c&state=T HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", 202),
    ("GET /done?state=T HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", 400),
    ("GET /done?state=S HTTP/1.1\nhost:127.0.0.1:8080\n\n", 200),
    ("GET /done?state=S HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", 400),
    ("GET /done?state=S HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400),
    ("GET /done?state=S HTTP/1.1\r\n\r\n", 400),
    ("GET /done?state=S HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nHost: 127.0.0.1:8080\r\n\r\n", 400),
    ("GET http://127.0.0.1:8080/done?state=S HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", 0),
    ("GET /done?state=S#x HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", 0),
    ("GET /done?state=S\r\nHost: 127.0.0.1:8080\r\n\r\n", 0), ("GET\r\n\r\n", 0), ("\r\n\r\n", 0), ("\u{0}\n\n", 0),
    ("HEAD /done?state=S HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", 405),
    ("GET /Done?state=S HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", 404),
  ]
  @Test(arguments: heads) func `a head is read strictly`(text: String, status: Int) {
    guard case .head(let head) = LoopbackExchange.read(Array(text.utf8)) else {
      #expect(status == 0)
      return
    }
    #expect(LoopbackExchange.decide(head, at: url(Self.address), states: ["S"]).status == status)
  }

  @Test(arguments: [("127.0.0.1", 200), ("127.0.0.1:80", 200), ("127.0.0.1:8080", 400), ("evil.example", 400)])
  func `the default port may be missing in the host`(host: String, status: Int) {
    let text = "GET /done?state=S HTTP/1.1\r\nHost: \(host)\r\n\r\n"
    guard case .head(let head) = LoopbackExchange.read(Array(text.utf8)) else {
      Issue.record("the head was not read")
      return
    }
    #expect(LoopbackExchange.decide(head, at: url("http://127.0.0.1:80/done"), states: ["S"]).status == status)
  }

  @Test func `the length of a head is limited`() {
    #expect(LoopbackExchange.read(Array("GET /done".utf8)) == .incomplete)
    #expect(LoopbackExchange.read([UInt8](repeating: 65, count: 20_000)) == .invalid)
    #expect(LoopbackExchange.read([0xFF, 0xFE, 10, 10]) == .invalid)
  }
}

/// A connection to this machine from another program than the browser.
private final class IdleConnection {
  private let descriptor: Int32

  init(port: UInt16) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
    }
    guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  /// Sends what the system takes at once.
  func send(_ text: String) {
    #if canImport(Glibc)
      let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    #else
      let flags = Int32(MSG_DONTWAIT)
    #endif
    _ = Array(text.utf8).withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) }
  }

  deinit { close(descriptor) }
}
