import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct TransportFailureTests {
  private static let answers: [(LoopbackResponse, NetworkError.Code)] = certain + platformAnswers

  private static let certain: [(LoopbackResponse, NetworkError.Code)] = [
    (.status(200).fault(.reset, at: .request), .connectionLost),
    (.status(200).fault(.close, at: .request), .connectionLost),
    (.text("0123456789").fault(.reset, at: .body(after: 4)), .connectionLost),
    (.text("0123456789").fault(.close, at: .body(after: 4)), .truncatedBody),
    (.text("0123456789").header("Content-Length", "20"), .truncatedBody),
    (.chunked(["one", "two"]).fault(.close, at: .body(after: 6)), .truncatedBody),
    (.badChunk(after: ["one"]), .badResponse),
    (.garbage, .badResponse),
    (.text("hello").header("Content-Encoding", "gzip"), .badResponse),
  ]

  /// Responses that libcurl refuses and other clients may accept.
  private static var platformAnswers: [(LoopbackResponse, NetworkError.Code)] {
    #if canImport(FoundationNetworking)
      [
        (.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nno field\r\n\r\nok"), .badResponse),
        (
          .raw("HTTP/1.1 200 OK\r\nContent-Length:2\r\nX: \u{FF}".utf8.map { $0 } + [0xFF, 13, 10, 13, 10]),
          .badResponse
        ),
        (.raw("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 200_000))\r\n\r\n"), .badResponse),
        (.text("hello").header("Content-Encoding", "nonsense"), .badResponse),
      ]
    #else
      []
    #endif
  }

  @Test(arguments: answers.indices)
  func `a malformed response is an error with its code`(index: Int) async throws {
    let (answer, code) = TransportFailureTests.answers[index]
    let server = try LoopbackServer()
    server.enqueue(answer)
    let request = server.request()
    let error = try await URLSessionTransport().failure(of: request)
    #expect(error.code == code, "\(answer): \(error)")
    #expect(error.request?.url == request.url)
    #if canImport(FoundationNetworking)
      #expect(error.underlyingError != nil)
    #endif
  }

  @Test(arguments: [
    (POSIXErrorCode.ECONNREFUSED, NetworkError.Code.cannotConnect), (.ENETDOWN, .cannotConnect),
    (.EHOSTUNREACH, .cannotConnect), (.ECONNRESET, .connectionLost), (.EPIPE, .connectionLost),
    (.ECONNABORTED, .connectionLost), (.ETIMEDOUT, .timedOut), (.E2BIG, .transportFailed),
  ])
  func `an error of the system's domain has a code`(code: POSIXErrorCode, wanted: NetworkError.Code) {
    let error = POSIXError(code)
    #expect(TransportFailure(error, isWithinBody: false).networkError.code == wanted)
    #expect(TransportFailure(error as NSError, isWithinBody: true).networkError.code == wanted)
    #expect(TransportFailure(error, isWithinBody: false).networkError.underlyingError is POSIXError)
  }

  #if canImport(FoundationNetworking)
    private static let ends = "error:0A000126:SSL routines::unexpected eof while reading"
    private static let refuses = "error:0A00045C:SSL routines::tlsv13 alert certificate required"

    /// Texts, their codes before the head of the response, and those within its body.
    private static let texts: [(String, NetworkError.Code, NetworkError.Code)] = [
      ("OpenSSL SSL_read: OpenSSL/3.0.13: \(ends), errno 0", .connectionLost, .truncatedBody),
      ("OpenSSL SSL_read: SSL_ERROR_SYSCALL, errno 104", .connectionLost, .connectionLost),
      ("CONNECT tunnel failed, response 403", .cannotConnect, .connectionLost),
      ("Received HTTP code 407 from proxy after CONNECT", .cannotConnect, .connectionLost),
      ("Failed to connect to alert.ssl port 80: Couldn't connect to server", .cannotConnect, .connectionLost),
      ("OpenSSL SSL_read: \(refuses), errno 0", .tlsFailed, .connectionLost),
      ("OpenSSL SSL_write: SSL_ERROR_ZERO_RETURN, errno 0", .connectionLost, .connectionLost),
      ("OpenSSL SSL_write: \(refuses), errno 0", .tlsFailed, .connectionLost),
      ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:443 ", .cannotConnect, .connectionLost),
      ("OpenSSL SSL_connect: Connection reset by peer in connection to h:443 ", .cannotConnect, .connectionLost),
      ("TLS connect error: \(ends)", .cannotConnect, .connectionLost),
      ("TLS connect error: error:00000000:lib(0)::reason(0)", .cannotConnect, .connectionLost),
      ("SSL certificate problem: self-signed certificate", .tlsFailed, .connectionLost),
      ("Error in the HTTP2 framing layer", .connectionLost, .connectionLost),
      ("Stream error in the HTTP/2 framing layer", .connectionLost, .connectionLost),
      (
        "HTTP/2 stream 1 was closed cleanly, but before getting  all response header fields, treated as error",
        .connectionLost, .connectionLost
      ),
      ("HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)", .connectionLost, .connectionLost),
    ]

    @Test(arguments: texts)
    func `a text of libcurl has a code`(text: String, early: NetworkError.Code, late: NetworkError.Code) {
      let error = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: text])
      #expect(TransportFailure(error, isWithinBody: false).networkError.code == early)
      #expect(TransportFailure(error, isWithinBody: true).networkError.code == late)
    }

    @Test(arguments: [
      (URLError.Code.cannotConnectToHost, "Failed to connect to localhost port 443", NetworkError.Code.connectionLost),
      (.unknown, "TLS connect error: \(ends)", .connectionLost),
      (.unknown, "SSL certificate problem: self-signed certificate", .connectionLost),
      // The server refuses the client after it has got the request.
      (.unknown, "OpenSSL SSL_read: \(refuses), errno 0", .tlsFailed),
      (.timedOut, "Timeout was reached", .timedOut),
    ])
    func `a failure to connect after the body was sent is the loss of the first connection`(
      code: URLError.Code, text: String, wanted: NetworkError.Code
    ) {
      let error = URLError(code, userInfo: [NSLocalizedDescriptionKey: text])
      #expect(TransportFailure(error, isWithinBody: false, hasSentBody: true).networkError.code == wanted)
    }
  #endif

  @Test(arguments: [
    // Port 1 has no listener; the port of a stopped server may belong to another test by now.
    ("http://127.0.0.1:1/", NetworkError.Code.cannotConnect), ("http://nonexistent.invalid/", .dnsFailed),
    ("ftp://127.0.0.1/", .invalidURL),
    ("http://user@127.0.0.1/", .invalidURL), ("/path", .invalidURL),
  ])
  func `an unreachable address is an error with its code`(address: String, code: NetworkError.Code) async throws {
    let url = try #require(URL(string: address))
    #expect(try await URLSessionTransport().failure(of: NetworkRequest(url: url)).code == code)
  }

  @Test func `a server without TLS is an error with its code`() async throws {
    let server = try LoopbackServer { _ in .status(200) }
    let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
    #expect(try await URLSessionTransport().failure(of: NetworkRequest(url: url)).code == .tlsFailed)
  }

  #if os(Linux)
    @Test func `an IPv6 address is refused on Linux, with a reason`() async throws {
      let url = try #require(URL(string: "http://[::1]:8080/"))
      let error = try await URLSessionTransport().failure(of: NetworkRequest(url: url))
      #expect(error.code == .unsupportedAddress)
      #expect(
        error.message == "URLSession on Linux cannot send to the IPv6 address [::1]; use a host name that leads to it")
    }
  #endif

  @Test func `an illegal request is not sent`() async throws {
    let server = try LoopbackServer { _ in .status(200) }
    let transport = URLSessionTransport()
    for request in [
      server.request("GET /\r\nX: y"), server.request(headers: ["X\r\nY": "1"]),
      server.request(headers: ["X": "1\r\nY: 2"]),
      server.request(headers: ["X": "\0"]), server.request(.post, headers: ["Content-Length": "0"]),
      server.request(headers: ["Transfer-Encoding": "chunked"]), server.request(headers: ["Host": "x"]),
      server.request(body: .data(Data("x".utf8))),
    ] {
      #expect(try await transport.failure(of: request).code == .invalidRequest)
    }
    #expect(server.connectionCount == 0)
  }

  @Test func `framing headers are sent if they are allowed`() async throws {
    let server = try LoopbackServer { _ in .status(200) }
    var options = RequestOptions()
    options.allowsFramingHeaders = true
    _ = try await URLSessionTransport().send(server.request(headers: ["Host": "other.example"], options: options))
    #expect(server.requests.first?.headers["Host"] == "other.example")
  }
}
