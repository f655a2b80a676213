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
}
