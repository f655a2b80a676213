#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  @Suite(.limited) struct CurlProxyTests {
    let proxy: LoopbackServer

    init() throws { proxy = try LoopbackServer { _ in .text("through the proxy") } }

    private func transport(user: String? = nil, password: String? = nil) throws -> CurlTransport {
      CurlTransport(configuration: .init(proxy: try .url(proxy.baseURL, user: user, password: password)))
    }

    private func request(_ text: String, headers: HeaderFields = [:]) throws -> NetworkRequest {
      NetworkRequest(url: try #require(URL(string: text)), headers: headers)
    }

    @Test func `an http request to a proxy names the full URL`() async throws {
      let response = try await transport().send(request("http://server.test/a?b=c"))
      #expect(try response.text == "through the proxy")
      #expect(proxy.requests.first?.target == "http://server.test/a?b=c")
      #expect(proxy.requests.first?.headers["Host"] == "server.test")
      #expect(proxy.requests.first?.headers.contains("Proxy-Authorization") == false)
    }

    @Test func `a proxy gets its own credentials`() async throws {
      _ = try await transport(user: "Aladdin", password: "open sesame").send(request("http://server.test/"))
      #expect(proxy.requests.first?.headers["Proxy-Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test func `the request for a tunnel does not contain the fields of the tunnelled request`() async throws {
      proxy.enqueue(.status(407).header("Proxy-Authenticate", "Basic realm=\"x\""))
      let error = try await transport().failure(
        of: request("https://server.test/secret", headers: ["Authorization": "Bearer canary", "X-Own": "canary"]))
      #expect(error.code == .cannotConnect)
      let tunnel = try #require(proxy.requests.first)
      #expect(tunnel.method == "CONNECT")
      #expect(tunnel.target == "server.test:443")
      #expect(!tunnel.head.contains("canary"))
      #expect(!tunnel.head.contains("secret"))
    }

    @Test func `a proxy address without a listener is an error of the connection`() async throws {
      proxy.stop()
      #expect(try await transport().failure(of: request("http://server.test/")).code == .cannotConnect)
    }

    @Test func `the description of a proxy does not show its credentials`() throws {
      let made = try CurlTransport.Proxy.url(proxy.baseURL, user: "user-canary", password: "password-canary")
      let settings = CurlTransport.Configuration(proxy: made)
      var dumped = ""
      dump(settings, to: &dumped)
      for text in ["\(made)", String(reflecting: made), "\(settings)", String(reflecting: settings), dumped] {
        #expect(!text.contains("canary"))
      }
    }

    @Test(arguments: [
      (nil, "canary"), ("a\0canary", "x"), ("x", "a\0canary"), ("x\r\nX-Own: canary", ""), ("x", "canary\u{7F}"),
    ])
    func `credentials that would reach the proxy altered are refused`(user: String?, password: String) throws {
      for scheme in ["http", "https", "socks5", "socks5h"] {
        let url = try #require(URL(string: "\(scheme)://127.0.0.1:1"))
        let error = try #require(throws: NetworkError.self) {
          try CurlTransport.Proxy.url(url, user: user, password: password)
        }
        #expect(error.code == .invalidURL)
        #expect(!"\(error)".contains("canary"))
      }
    }

    @Test func `a user with a colon is refused where the password would begin`() throws {
      for (scheme, isRefused) in [("http", true), ("HTTPS", true), ("socks5", false), ("socks5h", false)] {
        let url = try #require(URL(string: "\(scheme)://127.0.0.1:1"))
        let made = try? CurlTransport.Proxy.url(url, user: "a:b", password: "c")
        #expect((made == nil) == isRefused, "\(scheme)")
      }
    }

    @Test(arguments: ["ftp://127.0.0.1/", "relative", "http://user:secret@127.0.0.1:1/", "http://user@127.0.0.1:1/"])
    func `an invalid proxy URL is refused`(text: String) throws {
      let url = try #require(URL(string: text))
      let error = try #require(throws: NetworkError.self) { try CurlTransport.Proxy.url(url) }
      #expect(error.code == .invalidURL)
      #expect(!"\(error)".contains("secret"))
    }
  }
#endif
