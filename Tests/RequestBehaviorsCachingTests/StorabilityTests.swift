import Foundation
// The types that decide are internal: a test of each clause asks them.
import RequestBehaviors
import Testing

@testable import RequestBehaviorsCaching

@Suite(.limited) struct StorabilityTests {
  private let url = URL(string: "https://api.example.com/v1/a")!

  private func refusal(_ status: Int = 200, _ headers: HeaderFields = [:], method: RequestMethod = .get)
    -> CacheRefusal?
  {
    Storability.refusal(statusCode: status, headers: headers, method: method, url: url)
  }

  @Test(arguments: ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "M-SEARCH"])
  func `RFC 9111 §3: only methods that the cache understands are stored`(method: String) {
    #expect(refusal(200, ["Cache-Control": "max-age=60"], method: RequestMethod(rawValue: method)) == .method)
  }

  @Test func `RFC 9111 §3: no-store forbids storing, whatever else is said`() {
    #expect(refusal(200, ["Cache-Control": "No-StOrE"]) == .responseForbids)
    #expect(refusal(200, ["Cache-Control": "max-age=60, no-store", "Expires": httpDate(60)]) == .responseForbids)
  }

  @Test func `RFC 9111 §5.2.2.3: must-understand overrides no-store for a status that is understood`() {
    #expect(refusal(200, ["Cache-Control": "max-age=60, no-store, must-understand"]) == nil)
    #expect(refusal(599, ["Cache-Control": "max-age=60, no-store, must-understand"]) == .notUnderstood)
    #expect(refusal(599, ["Cache-Control": "max-age=60, must-understand"]) == .notUnderstood)
  }

  @Test(arguments: [200, 201, 203, 204, 299, 301, 302, 303, 307, 308, 400, 403, 404, 410, 499, 500, 502, 503, 504, 599])
  func `RFC 9111 §3: any final status is stored with explicit freshness`(status: Int) {
    #expect(refusal(status, ["Cache-Control": "max-age=60"]) == nil)
    #expect(refusal(status, ["Expires": httpDate(60)]) == nil)
    #expect(refusal(status, ["Cache-Control": "public"]) == nil)
    #expect(refusal(status, ["Cache-Control": "private"]) == nil)
  }

  @Test func `RFC 9111 §3: without explicit freshness only the statuses of RFC 9110 §15.1 are stored`() {
    for status in [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501] { #expect(refusal(status) == nil) }
    for status in [201, 202, 302, 303, 307, 400, 403, 500, 502, 503, 504, 599] {
      #expect(refusal(status, ["Last-Modified": httpDate(-60), "Cache-Control": "s-maxage=60"]) == .status)
    }
  }

  @Test func `RFC 9111 §3: parts, 304s and interim responses are not stored as they are`() {
    #expect(refusal(206, ["Cache-Control": "max-age=60"]) == .partial)
    #expect(refusal(304, ["Cache-Control": "max-age=60"]) == .notModified)
    #expect(refusal(103, ["Cache-Control": "max-age=60"]) == .status)
  }

  @Test func `RFC 9111 §3: a private cache stores private responses and those to requests with Authorization`() {
    #expect(refusal(200, ["Cache-Control": "private, max-age=60"]) == nil)
    #expect(refusal(200, ["Cache-Control": "private=\"set-cookie\", max-age=60"]) == nil)
  }

  @Test(
    arguments: [
      (["Cache-Control": "max-age=60", "Content-Location": "/v1/a"], nil),
      (["Expires": httpDate(60), "Content-Location": "https://api.example.com/v1/a"], nil),
      (["Expires": httpDate(60), "Content-Location": "a"], nil),
      (["Cache-Control": "max-age=60"], .postWithoutLocation),
      (["Content-Location": "/v1/a"], .postWithoutLocation),
      (["Cache-Control": "public", "Content-Location": "/v1/a"], .postWithoutLocation),
      (["Cache-Control": "max-age=60", "Content-Location": "/v1/b"], .postWithoutLocation),
    ] as [(HeaderFields, CacheRefusal?)])
  func `RFC 9110 §9.3.3: a response to a POST is stored with explicit freshness and its own Content-Location`(
    headers: HeaderFields, expected: CacheRefusal?
  ) {
    #expect(refusal(200, headers, method: .post) == expected)
  }

  @Test(arguments: [
    ("10", nil, 10, true), ("10", nil, 9, false), ("10", nil, 11, false), ("10", "gzip", 99, true), (nil, nil, 5, true),
    ("10, 10", nil, 5, true),
  ])
  func `RFC 9111 §3.3: a body whose length differs from the announced one is incomplete`(
    length: String?, encoding: String?, count: Int, isComplete: Bool
  ) {
    var headers = HeaderFields()
    headers["Content-Length"] = length
    headers["Content-Encoding"] = encoding
    #expect(Storability.isComplete(count, headers) == isComplete)
  }

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "M-SEARCH"])
  func `RFC 9111 §4.4: an unsafe method makes its URL invalid, and the URLs that its response names on its origin`(
    method: String
  ) {
    func urls(_ status: Int, _ headers: HeaderFields = [:]) -> [String] {
      CacheInvalidation.urls(statusCode: status, headers: headers, method: RequestMethod(rawValue: method), url: url)
    }
    #expect(urls(200) == ["https://api.example.com/v1/a"])
    #expect(
      urls(303, ["Location": "b", "Content-Location": "/c?d=1#e"])
        == ["https://api.example.com/v1/a", "https://api.example.com/v1/b", "https://api.example.com/c?d=1"])
    #expect(
      urls(201, ["Location": "https://other.example/v1/a", "Content-Location": "/v1/a"])
        == ["https://api.example.com/v1/a"])
    for status in [400, 404, 500, 503] { #expect(urls(status).isEmpty) }
  }

  @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"])
  func `RFC 9111 §4.4: a safe method does not make a URL invalid`(method: String) {
    let method = RequestMethod(rawValue: method)
    #expect(CacheInvalidation.urls(statusCode: 200, headers: ["Location": "/b"], method: method, url: url).isEmpty)
  }
}
