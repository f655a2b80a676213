import Foundation
import RequestBehaviors
import Testing

/// A response is a value, whatever its copies share.
@Suite(.limited) struct NetworkResponseTests {
  private let original: NetworkResponse

  init() throws {
    let url = try #require(URL(string: "https://api.example.com/a"))
    original = NetworkResponse(
      request: NetworkRequest(url: url), statusCode: 200, headers: ["X-A": "1"], body: .data(Data("1".utf8)))
  }

  @Test func `a change of a response's copy does not change the original`() throws {
    var copy = original
    copy.statusCode = 404
    copy.headers["X-A"] = "2"
    copy.body = .data(Data("2".utf8))
    copy.request.headers["X-B"] = "3"
    copy.source = .cache
    copy.isVerified = false
    copy.timings.lastByte = nil
    copy.trailers = ["X-C": "4"]
    #expect(original.statusCode == 200)
    #expect(original.headers == ["X-A": "1"])
    #expect(original.request.headers.isEmpty)
    #expect(try original.text == "1")
    #expect(original.source == .network)
    #expect(original.isVerified)
    #expect(original.timings.lastByte != nil)
    #expect(original.trailers == nil)
    #expect(copy.statusCode == 404)
    #expect(copy.headers == ["X-A": "2"])
    #expect(copy.request.headers == ["X-B": "3"])
    #expect(try copy.text == "2")
    #expect(copy.source == .cache)
    #expect(!copy.isVerified)
    #expect(copy.timings.lastByte == nil)
    #expect(copy.trailers == ["X-C": "4"])
  }

  @Test func `a decoded value is discarded even if a closure that changes the body throws`() throws {
    func change(_ body: inout ResponseBody) throws {
      body = .data(Data(#"["new"]"#.utf8))
      throw CancellationError()
    }
    var response = original
    response.headers["Content-Type"] = "application/json"
    response.body = .data(Data(#"["old"]"#.utf8))
    response.keepDecoded(["kept"])
    #expect(try response.decode([String].self) == ["kept"])
    #expect(throws: CancellationError.self) { try change(&response.body) }
    #expect(try response.decode([String].self) == ["new"])
  }
}
