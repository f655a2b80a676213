import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// RFC 3986 §5.4: references resolved against `http://a/b/c/d;p?q`, through redirects.
@Suite(.limited) struct RedirectResolutionTests {
  /// Returns the URL that a redirect to a reference leads to; throws what refuses it.
  private func target(of reference: String) async throws -> String? {
    let base = "http://a/b/c/d;p?q"
    let transport = ClosureTransport { request in
      guard request.url.absoluteString == base else { return NetworkResponse(request: request, statusCode: 200) }
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": reference])
    }
    let url = try #require(URL(string: base))
    try await NetworkClient(transport).send(.get(url: url).with(\.acceptableStatuses, .all))
    #expect(transport.sent.count == 2)
    return transport.sent.last?.url.absoluteString
  }

  // §5.4.1; an empty path is written `/`, which is the same (RFC 9110 §4.2.3).
  @Test(arguments: [
    ("http://a/g:h", "http://a/g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"), ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
    ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
    ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y#s"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
    ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
    ("../../g", "http://a/g"), ("./g:h", "http://a/b/c/g:h"), ("#s", "http://a/b/c/d;p?q#s"),
  ])
  func `normal references are resolved as RFC 3986 has it`(reference: String, expected: String) async throws {
    #expect(try await target(of: reference) == expected)
  }

  // §5.4.2
  @Test(arguments: [
    ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"), ("http://b/../../g", "http://b/g"), ("//b/../g", "http://b/g"),
    ("/..", "http://a/"), ("../../..", "http://a/"), ("/a//../g", "http://a/a/g"),
  ])
  func `abnormal references are resolved as RFC 3986 has it`(reference: String, expected: String) async throws {
    #expect(try await target(of: reference) == expected)
  }

  // Of the vectors of §5.4, those that name no http server.
  @Test(arguments: [("g:h", "only http and https"), ("http:g", "no host")])
  func `references that name no http server are errors`(reference: String, rule: String) async {
    let error = await #expect(throws: NetworkError.self) { _ = try await target(of: reference) }
    #expect(error?.code == .redirectFailed)
    #expect(error?.message.contains(rule) == true, "\(error as Any)")
  }

  @Test(arguments: ["../../x", "/../../x", "a/../../../x", "https://h/../x"])
  func `a caller's own path above the root is still an error`(path: String) async throws {
    let transport = ClosureTransport()
    let client = NetworkClient(transport)
    let url = try #require(URL(string: path))
    let request: Request<Void> = url.scheme == nil ? .get(RequestPath(encoded: path)) : .get(url: url)
    let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
    #expect(error?.code == .invalidURL)
    #expect(transport.sent.isEmpty)
  }
}
