import Foundation
import RequestBehaviors
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.limited) struct HTTPHeadersTests {
  @Test func `names are case-insensitive`() {
    let headers: HeaderFields = ["Content-Type": "text/plain"]
    #expect(headers["content-type"] == "text/plain")
    #expect(headers.contains("CONTENT-TYPE"))
    #expect(headers["Content_Type"] == nil)
  }

  @Test func `names that differ in a bit other than the case of a letter are different`() {
    #expect(!HeaderFields.areEqual("a@", "a`"))
    #expect(!HeaderFields.areEqual("[", "{"))
    #expect(HeaderFields.areEqual("ETag", "etAG"))
    #expect(HeaderFields.areEqual("AZ-az", "az-AZ"))
  }

  @Test func `several values of a name keep their order and are joined by a comma`() {
    var headers = HeaderFields()
    headers.append("Accept", "a")
    headers.append("X", "1")
    headers.append("accept", "b")
    #expect(headers.values(for: "ACCEPT") == ["a", "b"])
    #expect(headers["Accept"] == "a, b")
    #expect(headers.map(\.name) == ["Accept", "X", "accept"])
  }

  @Test func `setting a name replaces all its values in the place of the first`() {
    var headers: HeaderFields = ["A": "1", "B": "2", "a": "3"]
    headers["a"] = "4"
    #expect(headers.map(\.value) == ["4", "2"])
    headers["A"] = nil
    #expect(headers.map(\.name) == ["B"])
  }

  @Test func `a sensitive field stays sensitive when its value is replaced by subscript`() {
    var headers = HeaderFields()
    headers.set("Authorization", "one", sensitive: .baseURL)
    headers["authorization"] = "two"
    #expect(headers.field(named: "Authorization")?.sensitivity == .baseURL)
  }

  @Test func `merging replaces equal names and keeps the additional values of the other list`() {
    var headers: HeaderFields = ["A": "1", "B": "2"]
    headers.merge(["b": "3", "B": "4", "C": "5"])
    #expect(headers.values(for: "B") == ["3", "4"])
    #expect(headers["A"] == "1")
    #expect(headers["C"] == "5")
  }

  @Test(arguments: [(" a ", "a"), ("\t a b\t ", "a b"), ("", ""), (" \t", ""), ("a", "a"), ("\u{a0}a", "\u{a0}a")])
  func `white space around the values of a response is removed`(value: String, expected: String) throws {
    let url = try #require(URL(string: "https://h/"))
    let headers = HeaderFields([.init("A", value, sensitive: .any), .init("B", "b")])
    let response = NetworkResponse(request: NetworkRequest(url: url), statusCode: 200, headers: headers)
    #expect(response.headers.map(\.value) == [expected, "b"])
    #expect(response.headers.field(named: "A")?.sensitivity == .any)
    let platform = try #require(
      HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["A": value]))
    #expect(NetworkResponse(platform, request: NetworkRequest(url: url)).headers["A"] == expected)
  }

  @Test func `the description hides sensitive values`() {
    var headers: HeaderFields = ["Accept": "text/plain"]
    headers.set("Authorization", "Bearer canary", sensitive: .baseURL)
    #expect(!headers.description.contains("canary"))
    #expect(headers.description.contains("Accept: text/plain"))
  }

  @Test func `lists are equal regardless of the case of names, and marks count`() {
    #expect(HeaderFields(dictionaryLiteral: ("A", "1")) == ["a": "1"])
    var marked: HeaderFields = ["a": "1"]
    #expect(marked.hashValue == (["A": "1"] as HeaderFields).hashValue)
    marked.set("a", "1", sensitive: .any)
    #expect(marked != ["A": "1"])
  }
}

@Suite(.limited) struct OriginTests {
  @Test(arguments: [
    ("https://API.Example.com/v1?x#y", "https://api.example.com"), ("HTTP://h:80/", "http://h"),
    ("http://h:443/", "http://h:443"), ("https://[::1]:8443/x", "https://[::1]:8443"),
    ("https://user:pw@h/", "https://h"),
  ])
  func `an origin is scheme, host and effective port`(url: String, expected: String) {
    #expect(Origin(url)?.description == expected)
  }

  @Test(arguments: [
    ("http://h:443", "https://h:443"), ("http://h", "https://h"), ("http://h:80", "http://h:443"),
    ("https://h", "https://g"), ("https://h", "https://h:8443"),
  ])
  func `origins that differ in scheme, host or port are different, and secrets of one do not go to the other`(
    one: String, other: String
  ) throws {
    let one = try #require(Origin(one))
    let other = try #require(Origin(other))
    #expect(one != other)
    #expect(Set([one, other]).count == 2)
    #expect(!OriginScope.baseURL.includes(other, base: one))
    #expect(!OriginScope.only([one]).includes(other, base: one))
  }

  @Test func `origins that are written differently are equal, and one element of a set`() throws {
    let one = try #require(Origin("HTTPS://Example.COM:443/a"))
    let other = try #require(Origin("https://example.com/b?c#d"))
    #expect(one == other)
    #expect(Set([one, other]).count == 1)
  }

  @Test(arguments: ["ftp://h/", "/relative", "https:///path", "mailto:a@b", ""])
  func `a URL other than an absolute http URL has no origin`(url: String) {
    #expect(Origin(url) == nil)
  }

  @Test func `a secret goes to the origins of its scope only`() throws {
    let base = try #require(Origin("https://a"))
    let other = try #require(Origin("https://b"))
    #expect(OriginScope.baseURL.includes(base, base: base))
    #expect(!OriginScope.baseURL.includes(other, base: base))
    #expect(!OriginScope.baseURL.includes(other, base: nil))
    #expect(OriginScope.only([other]).includes(other, base: base))
    #expect(!OriginScope.only([other]).includes(base, base: base))
    #expect(OriginScope.any.includes(other, base: nil))
  }
}
