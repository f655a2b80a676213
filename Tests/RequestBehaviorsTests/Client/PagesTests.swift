import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct PagesTests {
  private struct Page: Codable, Equatable, Sendable {
    var items: [Int]
    var cursor: String?
    var next: URL?
  }

  /// A server whose URLs lead to links, by path and query.
  private func server(_ links: [String: String], bodies: [String: String] = [:]) -> ClosureTransport {
    ClosureTransport { request in
      let url = request.url.absoluteString.replacingOccurrences(of: "https://api.example.com/v1/", with: "")
      let headers: HeaderFields = links[url].map { ["Link": $0] } ?? [:]
      let body = bodies[url] ?? "[\(url.suffix(1))]"
      return NetworkResponse(request: request, statusCode: 200, headers: headers, body: .data(Data(body.utf8)))
    }
  }

  private let three = [
    "i?page=1": "<i?page=2>; rel=next", "i?page=2": "</v1/i?page=3>; rel=next", "i?page=3": "<i?page=1>; rel=first",
  ]

  private let request = Request<[Int]>.get("i", query: ["page": 1])

  @Test func `pages follow the links of the server to the last one`() async throws {
    let transport = server(three)
    var values: [[Int]] = []
    for try await page in NetworkClient(transport).pages(request) { values.append(page.value) }
    #expect(values == [[1], [2], [3]])
    #expect(transport.sent.map { $0.url.query() } == ["page=1", "page=2", "page=3"])
    #expect(Set(transport.sent.map(\.call.id)).count == 3)
  }

  @Test func `every page has the fields, options and behaviors of the first`() async throws {
    let transport = server(three)
    let first = request.with(\.idleTimeout, .seconds(7)).with(.headers(["X-Own": "1"]))
    for try await _ in NetworkClient(transport).pages(first) {}
    #expect(transport.sent.count == 3)
    #expect(transport.sent.allSatisfy { $0.headers["X-Own"] == "1" && $0.idleTimeout == .seconds(7) })
  }

  @Test func `every page counts for the endpoint of the first, unless it is on another origin`() async throws {
    let transport = server([
      "l/7?page=1": "</v1/l/7?page=2>; rel=next", "l/7?page=2": "</v1/lists/9?page=3>; rel=next",
      "lists/9?page=3": "<https://other.example/l/7?page=4>; rel=next",
    ])
    let origin = try #require(Origin(URL(string: "https://other.example")!))
    let first = Request<[Int]>.get("l/\(7)", query: ["page": 1])
    for try await _ in NetworkClient(transport).pages(first, allowing: [origin]) {}
    #expect(transport.sent.map(\.endpoint) == ["l/{}", "l/{}", "l/{}", "/l/7"])
  }

  @Test func `pages are not requested ahead, and not after the loop is left`() async throws {
    let transport = server(three)
    let pages = NetworkClient(transport).pages(request)
    #expect(transport.sent.isEmpty)
    for try await page in pages {
      #expect(transport.sent.count == page.value[0])
      if page.value == [2] { break }
    }
    #expect(transport.sent.count == 2)
    for try await page in pages.prefix(1) { #expect(page.value == [1]) }
    #expect(transport.sent.count == 3)
  }

  @Test func `a circle of links ends the list`() async throws {
    let transport = server(["i?page=1": "<i?page=2>; rel=next", "i?page=2": "<i?page=1>; rel=next"])
    var count = 0
    for try await _ in NetworkClient(transport).pages(request) { count += 1 }
    #expect(count == 2)
    let itself = server(["i?page=1": "<?page=1>; rel=next"])
    for try await _ in NetworkClient(itself).pages(request) { count += 1 }
    #expect(count == 3)
    #expect(itself.sent.count == 1)
  }

  @Test(arguments: ["https://other.example/2", "http://api.example.com/v1/i?page=2", "//api.example.com:8443/v1/i"])
  func `a page on another origin is not requested`(link: String) async throws {
    let transport = server(["i?page=1": "<\(link)>; rel=next"])
    var pages = NetworkClient(transport).pages(request).makeAsyncIterator()
    #expect(try await pages.next()?.value == [1])
    let error = await #expect(throws: NetworkError.self) { _ = try await pages.next() }
    #expect(error?.code == .linkNotFollowed)
    #expect(error?.message.contains("the first one on https://api.example.com;") == true)
    #expect(error?.response?.links["next"] != nil)
    #expect(try await pages.next() == nil)
    #expect(transport.sent.count == 1)
  }

  private static let unusableLinks = [
    "file:///etc/passwd", "https://mona:hunter2@api.example.com/v1/i?page=2", "ftp://h/",
  ]

  @Test(arguments: unusableLinks)
  func `a link that cannot be followed is an error, not the end`(link: String) async throws {
    let transport = server(["i?page=1": "<\(link)>; rel=\"next\""])
    var pages = NetworkClient(transport).pages(request).makeAsyncIterator()
    #expect(try await pages.next()?.value == [1])
    let error = await #expect(throws: NetworkError.self) { _ = try await pages.next() }
    #expect(error?.code == .linkNotFollowed)
    #expect(error?.message.contains("hunter2") == false)
    #expect(error.map { "\($0)" }?.contains("hunter2") == false)
    #expect(error?.response?.statusCode == 200)
    #expect(try await pages.next() == nil)
    #expect(transport.sent.count == 1)
  }

  @Test(arguments: unusableLinks)
  func `a link in the body that cannot be followed is an error, not the end`(link: String) async throws {
    let transport = server([:], bodies: ["i": #"{"items":[1],"next":"\#(link)"}"#])
    var pages = NetworkClient(transport).pages(Request<Page>.get("i"), following: .url { $0.next }).makeAsyncIterator()
    #expect(try await pages.next()?.value.items == [1])
    let error = await #expect(throws: NetworkError.self) { _ = try await pages.next() }
    #expect(error?.code == .linkNotFollowed)
    #expect(error.map { "\($0)" }?.contains("hunter2") == false)
    #expect(try await pages.next() == nil)
  }

  @Test func `a link that cannot be followed is ignored if another one can be, or if its relation is different`()
    async throws
  {
    let transport = server([
      "i?page=1": "<file:///a>; rel=next, <?page=2>; rel=next", "i?page=2": "<file:///a>; rel=prev",
    ])
    var values: [[Int]] = []
    for try await page in NetworkClient(transport).pages(request) { values.append(page.value) }
    #expect(values == [[1], [2]])
  }

  @Test func `a redirected first page is not requested again when the last one links to it`() async throws {
    let transport = ClosureTransport { request in
      let url = request.url.absoluteString.replacingOccurrences(of: "https://api.example.com/v1/", with: "")
      if url == "latest" {
        return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "i?page=1"])
      }
      let link = url == "i?page=1" ? "i?page=2" : "latest"
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Link": "<\(link)>; rel=next"], body: .data(Data("[1]".utf8)))
    }
    var count = 0
    for try await _ in NetworkClient(transport).pages(Request<[Int]>.get("latest")) { count += 1 }
    #expect(count == 2)
    #expect(transport.sent.count == 3)
  }

  @Test func `a page comes where a redirect leads to the origin of the session`() async throws {
    let transport = ClosureTransport { request in
      if request.url.scheme == "http" {
        let location = request.url.absoluteString.replacingOccurrences(of: "http:", with: "https:")
        return NetworkResponse(request: request, statusCode: 301, headers: ["Location": location])
      }
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data("[1]".utf8)))
    }
    let session = TokenSession(source: .signInOnly)
    try await session.signIn(AccessToken("t"))
    let client = NetworkClient(transport, [.tokenAuth(session)])
    let url = try #require(URL(string: "http://api.example.com/v1/i"))
    var values: [[Int]] = []
    for try await page in client.pages(Request<[Int]>.get(url: url)) { values.append(page.value) }
    #expect(values == [[1]])
    #expect(transport.sent.map { $0.headers["Authorization"] } == [nil, "Bearer t"])
  }

  @Test func `a page whose send is noted for another owner than the first one's is refused`() async throws {
    let user = Box("mona")
    let noting = ClosureBehavior(
      "noting", order: .authentication, modify: { request in request.call.noteSend(for: user.value) })
    var pages = NetworkClient(server(three), [noting]).pages(request).makeAsyncIterator()
    #expect(try await pages.next()?.value == [1])
    #expect(try await pages.next()?.value == [2])
    user.value = "lisa"
    let error = await #expect(throws: NetworkError.self) { _ = try await pages.next() }
    #expect(error?.code == .signedOut)
  }

  @Test func `a response has 256 links at most`() async throws {
    let links = String(repeating: "<?page=1>; rel=a,", count: 300) + "<?page=2>; rel=next"
    let response: NetworkResponse = try await NetworkClient(server(["i?page=1": links])).send(
      .get("i", query: ["page": 1]))
    #expect(response.links.count == 256)
  }

  @Test(arguments: [nil, "mona"] as [String?])
  func `pages do not continue for another user`(first: String?) async throws {
    let transport = server(three)
    let user = Box(first)
    let client = NetworkClient(transport, [ClosureBehavior("user", scope: { _ in user.value })])
    var pages = client.pages(request).makeAsyncIterator()
    #expect(try await pages.next()?.value == [1])
    #expect(try await pages.next()?.value == [2])
    user.value = "lisa"
    let error = await #expect(throws: NetworkError.self) { _ = try await pages.next() }
    #expect(error?.code == .signedOut)
    #expect(try await pages.next() == nil)
    #expect(transport.sent.count == 2)
    // A further iteration is the new user's.
    var again = client.pages(request).makeAsyncIterator()
    #expect(try await again.next()?.value == [1])
  }

  @Test func `a session that gets its first token for a page does not end the list`() async throws {
    let session = TokenSession(source: .closure { _ in AccessToken("t") })
    var values: [[Int]] = []
    for try await page in NetworkClient(server(three), [.tokenAuth(session)]).pages(request) {
      values.append(page.value)
    }
    #expect(values == [[1], [2], [3]])
  }

  @Test func `pages on another origin may belong to no user`() async throws {
    let transport = server(["i?page=1": "<https://other.example/2>; rel=next"])
    let other = try #require(Origin("https://other.example"))
    let scope = ClosureBehavior("user", scope: { $0.origin == other ? nil : "mona" })
    var values: [[Int]] = []
    for try await page in NetworkClient(transport, [scope]).pages(request, allowing: [other]) {
      values.append(page.value)
    }
    #expect(values == [[1], [2]])
  }

  @Test func `an allowed origin gets no secrets of the request`() async throws {
    let transport = server([
      "i?page=1": "<https://other.example/2>; rel=next",
      "https://other.example/2": "<https://api.example.com/v1/i?page=3>; rel=next",
    ])
    let other = try #require(Origin("https://other.example"))
    var first = request.with(\.environment, ServerEnvironment(baseURL: baseURL, headers: ["X-Stage": "1"]))
    first.headers = ["Authorization": "Bearer secret", "X-Plain": "1"]
    first.headers.set("X-Secret", "secret", sensitive: .baseURL)
    var values: [[Int]] = []
    for try await page in NetworkClient(transport).pages(first, allowing: [other]) { values.append(page.value) }
    #expect(values == [[1], [2], [3]])
    #expect(transport.sent.map { $0.headers["Authorization"] } == ["Bearer secret", nil, nil])
    #expect(transport.sent.map { $0.headers["X-Secret"] } == ["secret", nil, nil])
    #expect(transport.sent.map { $0.headers["X-Plain"] } == ["1", "1", "1"])
    #expect(transport.sent[1].headers["X-Stage"] == nil)
  }

  @Test func `a cursor in the body goes back in the query`() async throws {
    let transport = server(
      [:],
      bodies: [
        "i?size=2": #"{"items":[1],"cursor":"a&b"}"#, "i?size=2&after=a%26b": #"{"items":[2],"cursor":"c"}"#,
        "i?size=2&after=c": #"{"items":[3],"cursor":""}"#,
      ])
    let pages = NetworkClient(transport).pages(
      .get("i", query: ["size": 2]).returning(Page.self), following: .cursor("after") { $0.cursor })
    var values: [Int] = []
    for try await page in pages { values += page.value.items }
    #expect(values == [1, 2, 3])
  }

  @Test func `a cursor that the server repeats ends the list`() async throws {
    let body = #"{"items":[1],"cursor":"same"}"#
    let transport = server([:], bodies: ["i": body, "i?after=same": body])
    let pages = NetworkClient(transport).pages(
      .get("i").returning(Page.self), following: .cursor("after") { $0.cursor })
    for try await _ in pages {}
    #expect(transport.sent.count == 2)
  }

  @Test func `a link in the body may be relative to the page`() async throws {
    let transport = server([:], bodies: ["i": #"{"items":[1],"next":"i/2"}"#, "i/2": #"{"items":[2]}"#])
    let pages = NetworkClient(transport).pages(.get("i").returning(Page.self), following: .url { $0.next })
    var values: [Int] = []
    for try await page in pages { values += page.value.items }
    #expect(values == [1, 2])
    let foreign = server([:], bodies: ["i": #"{"items":[1],"next":"https://other.example/2"}"#])
    let error = await #expect(throws: NetworkError.self) {
      for try await _ in NetworkClient(foreign).pages(.get("i").returning(Page.self), following: .url { $0.next }) {}
    }
    #expect(error?.code == .linkNotFollowed)
  }

  @Test func `a custom rule may send the cursor in the body to the same URL`() async throws {
    let transport = ClosureTransport { request in
      let count = try #require(Int(String(decoding: request.body?.data ?? Data(), as: UTF8.self)))
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data("[\(count)]".utf8)))
    }
    let pages = NetworkClient(transport).pages(
      Request<[Int]>.post("search", body: .text("1")),
      following: .request { page, request in
        guard let last = page.value.last, last < 3 else { return nil }
        var next = request
        next.body = .text("\(last + 1)")
        return next
      })
    var values: [Int] = []
    for try await page in pages { values += page.value }
    #expect(values == [1, 2, 3])
  }

  @Test func `a page that fails ends the list with its error`() async throws {
    let transport = ClosureTransport { request in
      let isFirst = request.url.query() == "page=1"
      return NetworkResponse(
        request: request, statusCode: isFirst ? 200 : 500, headers: ["Link": "<i?page=2>; rel=next"],
        body: .data(Data("[1]".utf8)))
    }
    var pages = NetworkClient(transport).pages(request).makeAsyncIterator()
    #expect(try await pages.next() != nil)
    let error = await #expect(throws: NetworkError.self) { _ = try await pages.next() }
    #expect(error?.statusCode == 500)
    #expect(try await pages.next() == nil)
  }

  @Test func `a cursor replaces the one in the path's own query`() async throws {
    let bodies = [
      "e?after=0&n=2": #"{"items":[1],"cursor":"x"}"#, "e?n=2&after=x": #"{"items":[2]}"#,
    ]
    for first in [
      Request<Page>.get("e?after=0&n=2"),
      .get(url: try #require(URL(string: "https://api.example.com/v1/e?after=0&n=2"))),
    ] {
      let transport = server([:], bodies: bodies)
      var items: [Int] = []
      for try await page in NetworkClient(transport).pages(first, following: .cursor("after") { $0.cursor }) {
        items += page.value.items
      }
      #expect(items == [1, 2])
    }
  }

  @Test func `a custom rule may distinguish pages by a field`() async throws {
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, body: .data(Data("[\(request.headers["X-Page"] ?? "1")]".utf8)))
    }
    let rule = NextPage<[Int]>.request { page, request in
      guard let last = page.value.first, last < 3 else { return nil }
      return request.with(header: "X-Page", "\(last + 1)")
    }
    var values: [[Int]] = []
    for try await page in NetworkClient(transport).pages(.get("i"), following: rule) { values.append(page.value) }
    #expect(values == [[1], [2], [3]])
    let circle = NextPage<[Int]>.request { page, request in
      request.with(header: "X-Page", page.value == [1] ? "2" : "1")
    }
    var count = 0
    for try await _ in NetworkClient(transport).pages(.get("i").with(header: "X-Page", "1"), following: circle) {
      count += 1
    }
    #expect(count == 2)
  }

  @Test func `a link with a base of its own is relative to that`() async throws {
    let transport = server([:], bodies: ["i": #"{"items":[1]}"#, "deep/j": #"{"items":[2],"cursor":"end"}"#])
    let base = try #require(URL(string: "https://api.example.com/v1/deep/"))
    let rule = NextPage<Page>.url { $0.cursor == nil ? URL(string: "j", relativeTo: base) : nil }
    var items: [Int] = []
    for try await page in NetworkClient(transport).pages(Request<Page>.get("i"), following: rule) {
      items += page.value.items
    }
    #expect(items == [1, 2])
  }

  @Test func `an idempotency key does not go to another origin`() async throws {
    let transport = server(
      ["i?page=1": "<https://other.example/j>; rel=next"], bodies: ["https://other.example/j": "[2]"])
    let url = try #require(URL(string: "https://other.example"))
    let other = try #require(Origin(url))
    let first = request.with(header: "Idempotency-Key", "k").with(header: "X-Own", "1")
    for try await _ in NetworkClient(transport).pages(first, allowing: [other]) {}
    #expect(transport.sent.map { $0.headers["Idempotency-Key"] } == ["k", nil])
    #expect(transport.sent.map { $0.headers["X-Own"] } == ["1", "1"])
  }

  @Test func `links that differ in their fragment lead to one page`() async throws {
    let count = Box(0)
    let transport = ClosureTransport { request in
      let number = count.update { count in
        count += 1
        return count
      }
      return NetworkResponse(
        request: request, statusCode: 200, headers: ["Link": "<?p=2#\(number)>; rel=next"],
        body: .data(Data("[\(number)]".utf8)))
    }
    var values: [[Int]] = []
    for try await page in NetworkClient(transport).pages(Request<[Int]>.get("i")) { values.append(page.value) }
    #expect(values == [[1], [2]])
  }
}
