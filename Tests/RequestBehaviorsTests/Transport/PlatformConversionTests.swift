import Foundation
import RequestBehaviors
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.limited) struct PlatformConversionTests {
  private let url = URL(string: "https://api.example.com/users?page=2#top")

  @Test func `a request becomes a URLRequest`() throws {
    var request = NetworkRequest(
      .patch, url: try #require(url),
      headers: ["Accept": "text/plain", "X-A": "1", "x-a": "2", "Cookie": "a=1", "COOKIE": "b=2"],
      body: .data(Data("hello".utf8), contentType: "text/plain"))
    request.idleTimeout = .milliseconds(2_500)
    let platform = try URLRequest(request)
    #expect(platform.url == url)
    #expect(platform.httpMethod == "PATCH")
    #expect(platform.httpBody == Data("hello".utf8))
    #expect(platform.timeoutInterval == 2.5)
    #expect(
      platform.allHTTPHeaderFields
        == ["Accept": "text/plain", "X-A": "1, 2", "Cookie": "a=1; b=2", "Content-Type": "text/plain"])
  }

  @Test func `a URLRequest becomes a request`() throws {
    var platform = URLRequest(url: try #require(url))
    platform.httpMethod = "PUT"
    platform.httpBody = Data("hello".utf8)
    platform.timeoutInterval = 2.5
    platform.allHTTPHeaderFields = ["B": "2", "A": "1"]
    let request = try NetworkRequest(platform)
    #expect(request.url == url)
    #expect(request.method == .put)
    #expect(request.body?.data == Data("hello".utf8))
    #expect(request.headers == ["A": "1", "B": "2"])
    #expect(request.idleTimeout == .milliseconds(2_500))
    let again = try URLRequest(request)
    #expect(again.timeoutInterval == 2.5)
    #expect(again.httpMethod == "PUT")
  }

  @Test(arguments: [0, -1, .infinity, .nan, 1e300])
  func `an invalid timeout becomes nil`(timeout: TimeInterval) throws {
    var platform = URLRequest(url: try #require(url))
    platform.timeoutInterval = timeout
    #expect(try NetworkRequest(platform).idleTimeout == nil)
  }

  @Test(arguments: ["/path", "file:///etc/hosts", "mailto:a@example.com"])
  func `a URLRequest without an http URL is refused`(text: String) throws {
    let url = try #require(URL(string: text))
    #expect { try NetworkRequest(URLRequest(url: url)) } throws: { ($0 as? NetworkError)?.code == .invalidURL }
  }

  @Test func `a response becomes an HTTPURLResponse and back`() throws {
    let request = NetworkRequest(url: try #require(url))
    let response = NetworkResponse(
      request: request, statusCode: 203, headers: ["ETag": "\"a\"", "X-Two": "1", "x-two": "2"],
      body: .data(Data("hi".utf8)))
    let platform = try #require(HTTPURLResponse(response))
    #expect(platform.statusCode == 203)
    #expect(platform.url == url)
    #expect(platform.value(forHTTPHeaderField: "x-two") == "1, 2")
    let again = NetworkResponse(platform, data: Data("hi".utf8), request: request)
    #expect(again.statusCode == 203)
    #expect(again.headers["etag"] == "\"a\"")
    #expect(again.headers["X-Two"] == "1, 2")
    #expect(try again.text == "hi")
  }

  @Test func `a bare carriage return in a field of the platform's response becomes a space`() throws {
    let url = try #require(URL(string: "https://api.example.com/x"))
    let fields = ["X-Note": "a\rX-Evil: b"]
    let platform = try #require(
      HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
    #expect(NetworkResponse(platform, request: NetworkRequest(url: url)).headers["X-Note"] == "a X-Evil: b")
  }
}
