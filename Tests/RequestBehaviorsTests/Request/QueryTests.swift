import Foundation
import RequestBehaviors
import Testing

@Suite(.limited) struct QueryTests {
  enum Sort: String, QueryValue, Codable { case newest = "created desc" }

  @Test(arguments: [
    ("+", "%2B"), ("&", "%26"), ("=", "%3D"), ("#", "%23"), (" ", "%20"), ("é", "%C3%A9"), ("%41", "%2541"),
    ("?", "%3F"), ("/", "%2F"), (";", "%3B"), ("a-._~Z9", "a-._~Z9"), ("\u{0}", "%00"), ("👍", "%F0%9F%91%8D"),
    ("e\u{301}", "e%CC%81"), ("\r\n", "%0D%0A"), ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"),
  ])
  func `every character of a name and a value is escaped unless it is unreserved`(text: String, escaped: String) {
    #expect((["q": text] as Query).percentEncoded == "q=\(escaped)")
    #expect((Query([Query.Item(text, "v")])).percentEncoded == "\(escaped)=v")
  }

  @Test func `nil is left out, an array repeats its name, and the order is kept`() {
    let page: Int? = nil
    let limit: Int? = 10
    let query: Query = [
      "state": "open", "page": page, "limit": limit, "label": ["bug", "linux"], "none": [String](), "draft": false,
      "state": "closed", "sort": Sort.newest,
    ]
    #expect(
      query.percentEncoded
        == "state=open&limit=10&label=bug&label=linux&draft=false&state=closed&sort=created%20desc")
  }

  @Test func `a value is found by its name`() {
    let query: Query = ["page": 2, "label": ["bug", "linux"], "empty": ""]
    #expect(query["page"] == "2")
    #expect(query["label"] == "bug")
    #expect(query["empty"] == "")
    #expect(query["Page"] == nil)
  }

  @Test func `dates are ISO 8601 in UTC`() {
    #expect((["since": Date(timeIntervalSince1970: 0)] as Query).percentEncoded == "since=1970-01-01T00%3A00%3A00Z")
  }

  @Test func `an encodable value becomes items in the order of its properties`() throws {
    struct Filter: Encodable {
      var text = "a b"
      var page: Int? = 2
      var missing: String?
      var tags = ["x", "y"]
      var sort = Sort.newest
      var since = Date(timeIntervalSince1970: 0)
      var ratio = 0.5
      var isOpen = true
    }
    let query = try Query(encoding: Filter())
    #expect(
      query.percentEncoded
        == "text=a%20b&page=2&tags=x&tags=y&sort=created%20desc&since=1970-01-01T00%3A00%3A00Z&ratio=0.5&isOpen=true")
  }

  @Test func `an encodable value that is nested deeper is an error that names the place`() {
    struct Inner: Encodable { let deep = 1 }
    struct Outer: Encodable { let inner = Inner() }
    let error = #expect(throws: EncodingError.self) { try Query(encoding: Outer()) }
    #expect("\(error as Any)".contains("one level of names"))
    #expect(throws: EncodingError.self) { try Query(encoding: 7) }
  }
}
