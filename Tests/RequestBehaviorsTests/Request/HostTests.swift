import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// Hosts that systems read as numbers, and methods that are the transport's.
@Suite(.limited) struct HostTests {
  private func error(_ url: String, _ method: RequestMethod = .get) async throws -> NetworkError? {
    let transport = ClosureTransport()
    let client = NetworkClient(configuration: RequestConfiguration(), transport: transport)
    let request = Request<Void>(method, url: try #require(URL(string: url)))
    do {
      try await client.send(request)
      return nil
    } catch {
      #expect(transport.sent.isEmpty)
      return error as? NetworkError
    }
  }

  @Test(arguments: [
    "http://0177.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://127.1/",
    "http://127.0.0.01/",
    "http://127.0.0.256/", "http://127.0.0.1./", "http://1.2.3.4.5/", "http://0X7F.0.0.1/", "http://1.2.3.0x/",
    "http://010.0.0.1/", "http://a.1/", "http://12%37.0.0.1/",
  ])
  func `a host that is a number in another form is refused before anything is sent`(url: String) async throws {
    let error = try await error(url)
    #expect(error?.code == .invalidURL)
    #expect(error?.message.contains("four decimal numbers") == true)
  }

  @Test(arguments: [
    "http://127.0.0.1/", "http://0.0.0.0/", "http://255.255.255.255/", "http://[::1]/", "http://[::ffff:1.2.3.4]/",
    "http://example.com/", "http://1password.com/", "http://a.b.c.d/", "http://3com/", "http://x.0y/",
    "http://fade.cafe/",
    "http://1.2.3.4.example/", "http://example.com./",
  ])
  func `a request to a dotted IPv4 address or any name is sent`(url: String) async throws {
    #expect(try await error(url) == nil)
  }

  @Test func `CONNECT is refused`() async throws {
    let error = try await error("https://example.com/", RequestMethod(rawValue: "CONNECT"))
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("proxy") == true)
  }

  @Test(arguments: [
    "https://b\u{fc}cher.example/", "https://B\u{dc}CHER.example/", "https://xn--bcher-kva.example/",
    "https://XN--BCHER-KVA.example/", "https://b%C3%BCcher.example/", "https://b%c3%bccher.example:443/",
    "https://%78n--bcher-kva.example/",
  ])
  func `a host is of one origin however it is spelled`(url: String) throws {
    let origin = try #require(Origin(url))
    #expect(origin == Origin("https://xn--bcher-kva.example"))
    #expect(origin.description == "https://xn--bcher-kva.example")
  }

  @Test(arguments: ["http://[2001:DB8:0:0:0:0:0:1]/", "http://[2001:0db8::0001]/", "http://[2001:db8:0::1]:80/"])
  func `an IPv6 address is of one origin however it is written`(url: String) throws {
    let origin = try #require(Origin(url))
    #expect(origin == Origin("http://[2001:db8::1]"))
    #expect(origin.host == "2001:db8::1")
  }

  @Test func `the zone of an IPv6 address is part of its origin`() {
    #expect(Origin("http://[fe80::1%25eth0]") != Origin("http://[fe80::1%25eth1]"))
  }

  @Test(arguments: ["https://b\u{fc}cher.example/v1", "https://b%C3%BCcher.example/v1"])
  func `a request to a name of another script carries its ASCII form`(base: String) async throws {
    let transport = ClosureTransport()
    let baseURL = try #require(URL(string: base))
    let client = NetworkClient(baseURL: baseURL, behaviors: [.apiKey("X-Key", "k")], transport: transport)
    try await client.send(.get("users"))
    try await client.send(.get(url: #require(URL(string: "https://xn--bcher-kva.example/v1/next"))))
    let sent = transport.sent
    #expect(
      sent.map(\.url.absoluteString) == [
        "https://xn--bcher-kva.example/v1/users", "https://xn--bcher-kva.example/v1/next",
      ])
    #expect(sent.map { $0.headers["X-Key"] } == ["k", "k"])
  }

  @Test(arguments: ["a%2Fb.example", "a%40b.example", "a%00b.example", "a%2525.example", "%FF.example"])
  func `an escape that stands for no part of a name stays`(host: String) throws {
    #expect(try #require(Origin("https://\(host)/")).host == host.lowercased())
  }

  @Test(arguments: [
    "http://12%37.0.0.1/", "http://1.%EF%BC%91/", "http://%EF%BC%90177.1/", "http://127.0.0.%EF%BC%91/",
  ])
  func `an escaped number is refused by the request itself`(url: String) async throws {
    let request = NetworkRequest(url: try #require(URL(string: url)))
    let error = #expect(throws: NetworkError.self) { try request.validate() }
    #expect(error?.code == .invalidURL)
    #expect(try await self.error(url)?.code == .invalidURL)
  }
}
