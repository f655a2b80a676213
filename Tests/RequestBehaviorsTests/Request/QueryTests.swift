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

  @Test(arguments: [0, 1, 100, 10_000]) func `a query of any length is encoded whole`(count: Int) {
    let items = (0..<count).map { Query.Item("é\($0)", $0 % 2 == 0 ? "" : "a b") }
    let expected = (0..<count).map { "%C3%A9\($0)=" + ($0 % 2 == 0 ? "" : "a%20b") }
    #expect(Query(items).percentEncoded == expected.joined(separator: "&"))
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

  private struct Charge: Encodable {
    struct Card: Encodable {
      let name: String
      var expiry: [Int] = []
    }
    struct Item: Encodable { let id: Int }
    var amount = 5
    var card = Card(name: "Ada", expiry: [12, 30])
    var items = [Item(id: 7), Item(id: 8)]
    var metadata: [String: String?] = ["b": "2", "a": "1", "c": nil]
    var tags: [String] = []
  }

  @Test(arguments: [(Query.Nesting.indexed, ["0", "1"]), (.unindexed, ["", ""])])
  func `nested properties and elements get names in brackets`(nesting: Query.Nesting, index: [String]) throws {
    let query = try Query(encoding: Charge(), nesting: nesting)
    #expect(
      query.items.map { "\($0.name)=\($0.value)" } == [
        "amount=5", "card[name]=Ada", "card[expiry][\(index[0])]=12", "card[expiry][\(index[1])]=30",
        "items[\(index[0])][id]=7", "items[\(index[1])][id]=8", "metadata[a]=1", "metadata[b]=2",
      ])
  }

  /// The examples of the documentation of qs, which encodes the brackets too.
  @Test func `the text is that of the package qs`() throws {
    #expect(try Query(encoding: ["a": ["b": "c"]], nesting: .indexed).percentEncoded == "a%5Bb%5D=c")
    #expect(try Query(encoding: ["a": ["b", "c"]], nesting: .indexed).percentEncoded == "a%5B0%5D=b&a%5B1%5D=c")
    #expect(try Query(encoding: ["a": ["b", "c"]], nesting: .unindexed).percentEncoded == "a%5B%5D=b&a%5B%5D=c")
    #expect(try Query(encoding: ["a": ["b", "c"]]).percentEncoded == "a=b&a=c")
    let deep = ["a": [["b": ["c": 1]]]]
    #expect(try Query(encoding: deep, nesting: .indexed).percentEncoded == "a%5B0%5D%5Bb%5D%5Bc%5D=1")
  }

  @Test func `a value without names is an error with every nesting`() {
    #expect(throws: EncodingError.self) { try Query(encoding: [1, 2], nesting: .indexed) }
    #expect(throws: EncodingError.self) { try Query(encoding: "a", nesting: .unindexed) }
  }

  @Test func `a value in a container of its own has no index`() throws {
    enum Sort: String, Encodable { case newest }
    struct Filter: Encodable { let sort = [Sort.newest], other = Sort.newest }
    #expect(
      try Query(encoding: Filter(), nesting: .indexed).items == [.init("sort[0]", "newest"), .init("other", "newest")])
  }

  @Test func `a missing element has an index and no item`() throws {
    struct Gap: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var list = container.nestedUnkeyedContainer(forKey: .a)
        try list.encode(1)
        try list.encodeNil()
        try list.encode(2)
      }
      enum Key: String, CodingKey { case a }
    }
    #expect(try Query(encoding: ["a": [1, nil, 2]], nesting: .indexed).items.map(\.name) == ["a[0]", "a[2]"])
    #expect(try Query(encoding: Gap(), nesting: .indexed).items.map(\.name) == ["a[0]", "a[2]"])
  }

  @Test func `the members of a dictionary are sorted`() throws {
    let values = Dictionary(uniqueKeysWithValues: (10..<60).map { ("\($0)", $0) })
    #expect(try Query(encoding: values).items.map(\.name) == (10..<60).map(String.init))
  }
}
