import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The samples in the reference of requests.
@Suite(.limited) struct RequestReferenceTests {
  private final class File {
    var text = ""
    func write(_ bytes: Data) { text += String(decoding: bytes, as: UTF8.self) }
  }

  private let login = "octocat"
  private let mock = MockTransport(baseURL: baseURL)
  private var client: NetworkClient { NetworkClient(baseURL: baseURL, transport: mock) }

  @Test func `a stream is read by chunks`() async throws {
    let file = File()
    let stream = ByteStream(
      AsyncStream { continuation in
        continuation.yield(Data("one".utf8))
        continuation.yield(Data("two".utf8))
        continuation.finish()
      })
    for try await chunk in stream { file.write(chunk) }
    #expect(file.text == "onetwo")
  }

  @Test func `an error of the network is told by its kind`() async throws {
    let order = ["id": 1]
    var offers = 0
    func offerToTryAgain() { offers += 1 }
    mock.on(.post, "/orders").fail(.connectionLost)
    do {
      try await client.send(.post("orders", body: .json(order)))
    } catch let error as NetworkError
      where error.code.kinds.contains(.network)
    {
      offerToTryAgain()
    }
    #expect(offers == 1)
  }

  @Test func `names of fields are constants`() {
    var headers: HeaderFields = [:]
    headers[.contentType] = "text/plain"
    print(headers["content-type"] ?? "none")  // text/plain
    headers[.shopRegion] = "eu"
    #expect(headers["Content-Type"] == "text/plain")
    #expect(headers["x-shop-region"] == "eu")
  }

  @Test func `fields and methods are written as literals`() throws {
    let key = "s3cret"
    var headers: HeaderFields = ["Accept": "application/json"]
    print(headers["accept"] ?? "none")  // application/json
    headers.append("Prefer", "return=minimal")
    // Hidden in logs, and sent to the base URL's origin only.
    headers.set("X-API-Key", key, sensitive: .baseURL)
    #expect(headers["accept"] == "application/json")
    #expect(headers.field(named: "X-API-Key")?.isSensitive == true)

    let report: RequestMethod = "REPORT"
    #expect(report.rawValue == "REPORT")

    let url = baseURL
    let request = NetworkRequest(
      .get, url: url, headers: ["Accept": "text/plain"])
    #expect(request.headers["Accept"] == "text/plain")
  }

  @Test func `a query leaves out nil and repeats the name of an array`() async throws {
    let page: Int? = nil
    mock.on().respond(jsonText: "[]")
    let query: Query = [
      "state": "open", "page": page, "label": ["bug", "linux"],
    ]
    let issues: [Issue] = try await client.send(
      .get("issues", query: query))
    #expect(issues.isEmpty)
    #expect(mock.sent.first?.url.query() == "state=open&label=bug&label=linux")
    enum State: String, QueryValue { case open, closed }
    #expect(State.closed.queryValues == ["closed"])
  }

  @Test func `a form has the nested properties of a value`() async throws {
    struct Charge: Encodable {
      var amount = 5
      var card = ["name": "Ada"]
      var items = [["id": 7]]
    }
    let charge = Charge()
    mock.on(.post, "charges").respond()
    let form = try Query(encoding: charge, nesting: .indexed)
    try await client.send(.post("charges", body: .form(form)))
    // amount=5&card[name]=Ada&items[0][id]=7
    let sent = try #require(mock.sent.first).form
    #expect(sent.items.map(\.name) == ["amount", "card[name]", "items[0][id]"])
  }

  @Test func `a request is changed before it is sent`() async throws {
    let draft = Issue()
    mock.on(.get, "users/*").respond(jsonText: #"{"name": "Mona"}"#)
    mock.on(.get, "search").respond(jsonText: #"{"data": {"items": [{"id": 1, "title": "a"}]}}"#)
    mock.on().respond()
    let user: User = try await client.send(.get("users/\(login)"))
    try await client.send(
      .post("issues", body: .json(draft)).with(\.timeout, .seconds(10)))
    let report: Data = try await client.send(
      .get("report").with(\.timeout, .seconds(5)))
    let items: [Issue] = try await client.send(
      .get("search").decoding(at: "data.items"))
    #expect((user.name, report, items.count) == ("Mona", Data(), 1))
    #expect(mock.sent.map(\.timeout) == [nil, .seconds(10), .seconds(5), nil])
  }

  @Test func `an interpolated value is one segment`() async throws {
    mock.on().respond()
    let login = "a/b?c"
    let path: RequestPath = "users/\(login)/repos"
    print(path.template)  // users/{}/repos
    // Sent to users/a%2Fb%3Fc/repos.
    try await client.send(.get(path))
    #expect(path.template == "users/{}/repos")
    #expect(mock.sent.first?.url.absoluteString == "https://api.example.com/v1/users/a%2Fb%3Fc/repos")
  }
}

extension HeaderFields.Name {
  static let shopRegion: Self = "X-Shop-Region"
}
