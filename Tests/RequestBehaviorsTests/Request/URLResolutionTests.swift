import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct URLResolutionTests {
  enum Kind: String { case pull = "pull requests" }

  /// The bytes that are sent for a request to a base.
  private func url(
    _ base: String, _ request: Request<Void>, environmentQuery: Query = [:]
  ) async throws -> String {
    let transport = ClosureTransport()
    var configuration = RequestConfiguration()
    if let base = URL(string: base) {
      configuration.options.environment = ServerEnvironment(baseURL: base, query: environmentQuery)
    }
    try await NetworkClient(configuration: configuration, transport: transport).send(request)
    return try #require(transport.sent.first).url.absoluteString
  }

  private func failure(_ base: String, _ request: Request<Void>) async -> NetworkError? {
    await #expect(throws: NetworkError.self) { _ = try await url(base, request) }
  }

  @Test(arguments: [
    ("https://h", ""), ("https://h/", "/"), ("https://h/v1", "/v1"), ("https://h/a%20b/?x=1", "/a%20b/"),
  ])
  func `an environment tells its base path as it was given`(base: String, expected: String) throws {
    let url = try #require(URL(string: base))
    #expect(ServerEnvironment(baseURL: url).basePath == expected)
  }

  @Test(arguments: [
    ("https://h/v1", "users", "https://h/v1/users"),
    ("https://h/v1/", "users", "https://h/v1/users"),
    ("https://h/v1", "/users", "https://h/v1/users"),
    ("https://h/v1/", "/users/", "https://h/v1/users/"),
    ("https://h", "users", "https://h/users"),
    ("https://h/", "/users", "https://h/users"),
    ("https://h", "", "https://h/"),
    ("https://h/v1", "", "https://h/v1"),
    ("https://h/v1", "/", "https://h/v1/"),
    ("HTTPS://H:443/v1", "users", "https://h/v1/users"),
    ("http://h:8080/a%20b", "c%2Fd", "http://h:8080/a%20b/c%2Fd"),
    ("https://[::1]:8443/v1", "users", "https://[::1]:8443/v1/users"),
    ("https://h/v1?key=1", "users", "https://h/v1/users?key=1"),
    ("https://h/a/./b/../c", "d", "https://h/a/c/d"),
  ])
  func `the base path is a directory to which the path is appended`(
    base: String, path: String, expected: String
  ) async throws {
    #expect(try await url(base, .get(RequestPath(encoded: path))) == expected)
  }

  @Test func `dot segments are normalised before a behavior sees the URL`() async throws {
    #expect(try await url("https://h/v1", .get("a/./b/../c")) == "https://h/v1/a/c")
    #expect(try await url("https://h/v1", .get("../v2/users")) == "https://h/v2/users")
    #expect(try await url("https://h/v1", .get("a/..")) == "https://h/v1/")
    #expect(try await url("https://h/v1", .get("a/.hidden/..b/c..")) == "https://h/v1/a/.hidden/..b/c..")
  }

  @Test func `a path that leads above the root is an error`() async {
    let error = await failure("https://h/v1", .get("../../admin"))
    #expect(error?.code == .invalidURL)
    #expect(error?.message.contains("above the root") == true)
  }

  @Test func `literal text may have a query, which is kept before the request's`() async throws {
    #expect(
      try await url("https://h?b=0", .get("search?q=a%20b", query: ["page": 2]), environmentQuery: ["key": "k"])
        == "https://h/search?b=0&key=k&q=a%20b&page=2")
  }

  @Test func `illegal characters of literal text are escaped and escapes stay`() async throws {
    #expect(try await url("https://h", .get("a b/é/%2F/100%/x#frag")) == "https://h/a%20b/%C3%A9/%2F/100%25/x")
  }

  @Test(arguments: [
    ("a/b", "a%2Fb"), ("a?b=c", "a%3Fb%3Dc"), ("a#b", "a%23b"), ("..%2f", "..%252f"), ("é", "%C3%A9"),
    ("a b", "a%20b"), ("%2e%2e", "%252e%252e"), ("https://evil", "https%3A%2F%2Fevil"), ("a\r\nb", "a%0D%0Ab"),
    ("...", "..."), ("~user", "~user"), ("\\..\\", "%5C..%5C"), (";v=1", "%3Bv%3D1"), ("@host", "%40host"),
  ])
  func `an interpolated value is one escaped segment`(value: String, escaped: String) async throws {
    #expect(try await url("https://h/v1", .get("users/\(value)/repos")) == "https://h/v1/users/\(escaped)/repos")
    #expect(try await url("https://h/v1", .get("\(value)")) == "https://h/v1/\(escaped)")
  }

  @Test(arguments: ["", ".", ".."])
  func `an interpolated value that would change the path is an error`(value: String) async {
    for path: RequestPath in ["users/\(value)/repos", "users/\(value)", "\(value)", "users/\(value)?x=1"] {
      let error = await failure("https://h/v1", .get(path))
      #expect(error?.code == .invalidURL)
      #expect(error?.message.contains("as a whole segment") == true)
    }
  }

  @Test func `two values that make a dot segment together are an error too`() async {
    let dot = "."
    #expect(await failure("https://h/v1", .get("a/\(dot)\(dot)/b"))?.code == .invalidURL)
    #expect(await failure("https://h/v1", .get("a/.\(dot)/b"))?.code == .invalidURL)
  }

  @Test func `numbers, UUIDs, enumerations and several segments can be interpolated`() async throws {
    let id = UUID()
    #expect(
      try await url("https://h", .get("a/\(7)/\(id)/\(Kind.pull)/\(segments: ["x/y", "z"])"))
        == "https://h/a/7/\(id.uuidString)/pull%20requests/x%2Fy/z")
  }

  @Test func `a path without one of its segments fails, as with an empty one`() async {
    for names in [[], [""]] as [[String]] {
      #expect(await failure("https://h/v1", .delete("files/\(segments: names)"))?.code == .invalidURL)
      #expect(await failure("https://h/v1", .get("files/\(segments: names)/versions"))?.code == .invalidURL)
    }
  }

  @Test func `the template has braces in the place of each value`() {
    let login = "octocat"
    #expect(("users/\(login)/repos/\(7)?page=1" as RequestPath).template == "users/{}/repos/{}")
    #expect(("files/\(segments: ["a", "b"])" as RequestPath).template == "files/{}")
  }

  @Test func `only literal text makes a full URL that replaces the base`() async throws {
    #expect(try await url("https://h/v1", .get("https://other.example/x")) == "https://other.example/x")
    #expect(
      try await url("https://h/v1", .get(RequestPath(encoded: "https://evil.example/x")))
        == "https://h/v1/https://evil.example/x")
    #expect(
      try await url("https://h/v1", .get(RequestPath(encoded: "//evil.example/x"))) == "https://h/v1//evil.example/x")
  }

  @Test func `a full URL given as a value replaces the base and keeps its query`() async throws {
    let link = try #require(URL(string: "https://other.example/a/../b?x=%2B#part"))
    #expect(
      try await url("https://h/v1", .get(url: link, query: ["y": "1"])) == "https://other.example/b?x=%2B&y=1#part")
  }

  @Test func `a request of each method may have a full URL`() async throws {
    let link = try #require(URL(string: "https://other.example/upload?signature=1"))
    let transport = ClosureTransport()
    let client = NetworkClient(transport)
    let requests: [Request<Void>] = [
      .get(url: link), .head(url: link), .post(url: link), .put(url: link), .patch(url: link), .delete(url: link),
    ]
    for request in requests { try await client.send(request) }
    #expect(transport.sent.map(\.method) == [.get, .head, .post, .put, .patch, .delete])
    #expect(transport.sent.allSatisfy { $0.url == link })
  }

  @Test(arguments: [
    ("ftp://h/x", "only http and https"), ("https://user:secret@h/x", "user name or password"),
    ("https:///x", "no host"), ("relative/x", "is relative"), ("https://h:99999/", "port"), ("https://h:0/", "port"),
  ])
  func `a URL that must not be sent to is an error that names the rule`(text: String, rule: String) async throws {
    let asURL = try #require(URL(string: text))
    let error = await failure("https://h/v1", .get(url: asURL))
    #expect(error?.code == .invalidURL)
    #expect(error?.message.contains(rule) == true, "\(error as Any)")
    #expect(error?.description.contains("secret") == false)
    let asBase = await failure(text, .get("x"))
    #expect(asBase?.message.contains("the base URL") == true)
    #expect(asBase?.message.contains(rule) == true)
  }

  @Test func `a path without a base URL is an error that names the remedy`() async {
    let client = NetworkClient(configuration: RequestConfiguration(), transport: ClosureTransport())
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("users")) }
    #expect(error?.code == .invalidURL)
    #expect(error?.message.contains("no base URL for the path \"users\"") == true)
  }

  @Test func `a run-time path with illegal characters is an error`() async {
    #expect(await failure("https://h", .get(RequestPath(encoded: "a b")))?.message.contains("percent-encoded") == true)
  }
}
