import Foundation
// The types that decide are internal: a test of each clause asks them.
import RequestBehaviors
import Testing

@testable import RequestBehaviorsCaching

@Suite(.limited) struct CacheValidationTests {
  private func stored(_ headers: HeaderFields, status: Int = 200) -> StoredResponse {
    StoredResponse(
      statusCode: status, headers: headers, body: Data("body".utf8), variant: CacheVariant(fields: []),
      storedAt: arrival, terms: terms(headers, status: status))
  }

  @Test func `RFC 9111 §4.3.1: the entity tag and the date of the stored response are sent`() {
    let both = CacheValidators(["ETag": "W/\"a\"", "Last-Modified": httpDate(-5)])
    #expect(both.conditionalFields == ["If-None-Match": "W/\"a\"", "If-Modified-Since": httpDate(-5)])
    #expect(CacheValidators(["Last-Modified": httpDate(-5)]).conditionalFields == ["If-Modified-Since": httpDate(-5)])
    #expect(CacheValidators(["ETag": "\"a\""]).conditionalFields == ["If-None-Match": "\"a\""])
    #expect(CacheValidators(["Last-Modified": "yesterday", "ETag": ""]).isEmpty)
  }

  @Test(
    arguments: [
      (["ETag": "\"a\""], ["ETag": "\"a\""], true), (["ETag": "\"a\""], ["ETag": "\"b\""], false),
      (["ETag": "W/\"a\""], ["ETag": "\"a\""], false), (["ETag": "\"a\""], ["ETag": "W/\"a\""], true),
      (["ETag": "W/\"a\""], ["ETag": "W/\"a\""], true), (["ETag": "W/\"a\""], ["ETag": "W/\"b\""], false),
      (["Last-Modified": httpDate(-5)], ["Last-Modified": httpDate(-5)], true),
      (["Last-Modified": httpDate(-5)], ["Last-Modified": httpDate(-4)], false),
      (["Last-Modified": httpDate(-5)], ["ETag": "\"a\""], false),
      (["Last-Modified": httpDate(-5)], ["ETag": "W/\"a\"", "Last-Modified": httpDate(-5)], true),
      (["ETag": "\"a\"", "Last-Modified": httpDate(-5)], ["Last-Modified": httpDate(-5)], true),
      (["Last-Modified": httpDate(-5)], ["ETag": "W/\"a\""], false),
      (["Cache-Control": "max-age=60"], ["ETag": "W/\"a\""], false), (["ETag": "\"a\""], [:], true),
    ] as [(HeaderFields, HeaderFields, Bool)])
  func `RFC 9111 §4.3.4: a 304 updates the stored response that has its validator, and no other`(
    stored: HeaderFields, notModified: HeaderFields, expected: Bool
  ) {
    #expect(CacheValidators(stored).isConfirmed(by: notModified) == expected)
  }

  @Test(
    arguments: [
      (["If-None-Match": "\"a\""], .notModified), (["If-None-Match": "W/\"a\""], .notModified),
      (["If-None-Match": "*"], .notModified),
      (["If-None-Match": "\"x\", \"a\" ,\"y\""], .notModified), (["If-None-Match": "\"x\""], .full),
      (["If-None-Match": "\"x\"", "If-Modified-Since": httpDate(0)], .full),
      (["If-None-Match": "\"a\"", "If-Modified-Since": httpDate(-99)], .notModified),
      (["If-Modified-Since": httpDate(-5)], .notModified), (["If-Modified-Since": httpDate(-4)], .notModified),
      (["If-Modified-Since": httpDate(-6)], .full), (["If-Modified-Since": "yesterday"], .full), ([:], .full),
      (["If-Match": "\"a\""], .unknown), (["If-Unmodified-Since": httpDate(0)], .unknown),
      (["If-Range": "\"a\""], .unknown),
    ] as [(HeaderFields, ReceivedConditions.Answer)])
  func `RFC 9111 §4.3.2: the conditions of a user's request are evaluated on a fresh response`(
    request: HeaderFields, expected: ReceivedConditions.Answer
  ) {
    let stored = stored(["ETag": "\"a\"", "Last-Modified": httpDate(-5), "Date": httpDate(0)])
    #expect(ReceivedConditions.evaluate(request, on: stored) == expected)
  }

  @Test func `RFC 9111 §4.3.2: the Date field replaces a missing Last-Modified, and only a 200 becomes a 304`() {
    let dated = stored(["Date": httpDate(-9)])
    #expect(ReceivedConditions.evaluate(["If-Modified-Since": httpDate(-9)], on: dated) == .notModified)
    #expect(ReceivedConditions.evaluate(["If-Modified-Since": httpDate(-10)], on: dated) == .full)
    #expect(ReceivedConditions.evaluate(["If-Modified-Since": httpDate(0)], on: stored([:])) == .notModified)
    let missing = stored(["ETag": "\"a\""], status: 404)
    #expect(ReceivedConditions.evaluate(["If-None-Match": "\"a\""], on: missing) == .unknown)
    #expect(ReceivedConditions.evaluate([:], on: missing) == .full)
  }

  @Test(
    arguments: [
      (["ETag": "\"a\""], true), (["ETag": "\"b\""], false), (["Content-Length": "4"], true),
      (["Content-Length": "5"], false),
      (["Last-Modified": httpDate(-5)], true), (["Last-Modified": httpDate(-4)], false), ([:], true),
      (["X": "1"], true),
    ] as [(HeaderFields, Bool)])
  func `RFC 9111 §4.3.5: a HEAD describes the stored content if validators and length do not differ`(
    head: HeaderFields, expected: Bool
  ) {
    let stored: HeaderFields = ["ETag": "\"a\"", "Content-Length": "4", "Last-Modified": httpDate(-5)]
    #expect(CacheValidators.describesSameContent(head, as: stored) == expected)
  }
}

@Suite(.limited) struct StoredFieldsTests {
  @Test(arguments: [
    "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade", "Proxy-Authenticate",
    "proxy-authentication-info", "Proxy-Authorization", "Trailer",
  ])
  func `RFC 9111 §3.1: fields of the connection and of proxies are not stored`(name: String) {
    #expect(StoredFields.stored(of: [name: "x", "A": "1"]) == ["A": "1"])
  }

  @Test(arguments: [
    "Test-Header", "Content-Foo", "Content-Encoding", "Content-Length", "Content-Range", "Content-Security-Policy",
    "Content-Type",
    "ETag", "Expires", "Public-Key-Pins", "Set-Cookie", "Set-Cookie2", "X-Frame-Options", "WWW-Authenticate",
    "Clear-Site-Data",
  ])
  func `RFC 9111 §3.1: all other fields are stored`(name: String) {
    #expect(StoredFields.stored(of: [name: "x"]) == [name: "x"])
  }

  @Test func `RFC 9111 §3.1: fields that Connection lists are not stored`() {
    #expect(StoredFields.stored(of: ["Connection": "A, b", "a": "1", "B": "2", "c": "3"]) == ["c": "3"])
  }

  @Test func `RFC 9111 §5.2.2.4: fields that no-cache lists are not stored, the rest is`() {
    let headers: HeaderFields = ["Cache-Control": "max-age=5, no-cache=\"A, b\"", "a": "1", "B": "2", "c": "3"]
    #expect(StoredFields.stored(of: headers).map(\.name) == ["Cache-Control", "c"])
  }

  @Test func `RFC 9111 §3.2: a 304 replaces fields by name, except those that describe the stored bytes`() {
    let stored: HeaderFields = [
      "A": "1", "B": "1", "Content-Length": "4", "Content-Type": "text/plain", "Content-Encoding": "gzip", "Age": "9",
    ]
    var newer: HeaderFields = [
      "b": "2", "C": "2", "Content-Length": "0", "Content-Type": "text/html", "Content-Encoding": "br",
      "Content-Range": "x",
      "Connection": "d", "D": "2", "Content-Foo": "2",
    ]
    newer.append("B", "3")
    let merged = StoredFields.updated(stored, by: newer)
    #expect(merged.values(for: "B") == ["2", "3"])
    #expect(merged["A"] == "1")
    #expect(merged["C"] == "2")
    #expect(merged["Content-Foo"] == "2")
    #expect(
      merged["Content-Length"] == "4" && merged["Content-Type"] == "text/plain" && merged["Content-Encoding"] == "gzip")
    for name in ["D", "Connection", "Age", "Content-Range"] { #expect(!merged.contains(name)) }
  }

  @Test func `RFC 9111 §4.3.4: a 304 sets the lifetime and the age of the stored response`() throws {
    let request = NetworkRequest(url: URL(string: "https://h/a")!)
    let original = NetworkResponse(
      request: request, statusCode: 200,
      headers: ["Cache-Control": "max-age=1", "ETag": "\"a\"", "Age": "50", "Date": httpDate(-50)])
    let stored = try #require(
      StoredResponse(
        original, body: Data("x".utf8), to: request, requestTime: arrival, responseTime: arrival, policy: CachePolicy())
    )
    let later = arrival.addingTimeInterval(100)
    let updated = try #require(
      stored.updated(
        by: ["Cache-Control": "max-age=30", "Date": httpDate(98)], to: request, requestTime: later, responseTime: later,
        policy: CachePolicy()))
    #expect(updated.terms.lifetime == 30)
    #expect(updated.terms.initialAge == 2)
    #expect(updated.storedAt == arrival)
    #expect(updated.receivedAt == later)
    #expect(updated.body == Data("x".utf8))
    #expect(updated.headers["ETag"] == "\"a\"")
    let star = stored.updated(
      by: ["Vary": "*"], to: request, requestTime: later, responseTime: later, policy: CachePolicy())
    #expect(star == nil)
  }

  @Test func `RFC 9110 §6.6.1: a response without a date is stored with the date of its arrival`() throws {
    let request = NetworkRequest(url: URL(string: "https://h/a")!)
    let stored = try #require(
      StoredResponse(
        NetworkResponse(request: request, statusCode: 200), body: Data(), to: request, requestTime: arrival,
        responseTime: arrival, policy: CachePolicy()))
    #expect(stored.headers["Date"] == httpDate(0))
  }
}
