import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// HTTP message signatures (RFC 9421).
@Suite(.limited) struct MessageSignatureTests {
  /// The key of appendix B.1.5.
  private let key = Data(
    base64Encoded: "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==")!
  private let created = Date(timeIntervalSince1970: 1_618_884_473)

  /// The request of appendix B.2.
  private var request: NetworkRequest {
    NetworkRequest(
      .post, url: URL(string: "https://example.com/foo?param=Value&Pet=dog")!,
      headers: [
        "Date": "Tue, 20 Apr 2021 02:07:55 GMT", "Content-Type": "application/json",
        "Content-Digest":
          "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:",
      ], body: .data(Data(#"{"hello": "world"}"#.utf8)))
  }

  private func signature(_ components: [SignatureComponent]) -> MessageSignature {
    MessageSignature(keyID: "k", hmacSHA256: key, covering: components)
  }

  @Test func `the request of appendix B.2.5 has the signature of the RFC`() async throws {
    var signature = MessageSignature(
      keyID: "test-shared-secret", hmacSHA256: key, covering: ["date", "@authority", "content-type"])
    signature.label = "sig-b25"
    let signed = try await signature.signed(request, created: created)
    #expect(
      signed.headers["Signature-Input"]
        == #"sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#)
    #expect(signed.headers["Signature"] == "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:")
  }

  @Test func `the signature base of appendix B.2.6 is that of the RFC`() throws {
    let signature = MessageSignature(
      keyID: "test-key-ed25519", algorithm: nil,
      covering: ["date", "@method", "@path", "@authority", "content-type", "content-length"]
    ) { $0 }
    #expect(
      try signature.base(of: request, created: created) == """
        "date": Tue, 20 Apr 2021 02:07:55 GMT
        "@method": POST
        "@path": /foo
        "@authority": example.com
        "content-type": application/json
        "content-length": 18
        "@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length")\
        ;created=1618884473;keyid="test-key-ed25519"
        """)
  }

  @Test(arguments: [("sig1", ["sig2", "sig1"]), ("sig2", ["sig1", "sig2"]), ("sig3", ["sig1", "sig2", "sig3"])])
  func `a signature replaces the one with its label, and keeps the others`(
    label: String, expected: [String]
  ) async throws {
    var request = request
    request.headers["Signature-Input"] = #"sig1=("@method");keyid="a, sig2=", sig2=("@path" "date");keyid="b""#
    request.headers["Signature"] = "sig1=:b25l:, sig2=:dHdv:"
    var signature = signature(["@method"])
    signature.label = label
    let signed = try await signature.signed(request, created: created)
    func labels(_ name: String) -> [String]? {
      signed.headers[name]?.matches(of: /(?:^|, )(sig\d)=[(:]/).map { String($0.1) }
    }
    #expect(labels("Signature-Input") == expected)
    #expect(labels("Signature") == expected)
    #expect(signed.headers["Signature"]?.contains("sig1=:b25l:") == (label != "sig1"))
    #expect(signed.headers["Signature-Input"]?.contains(#"keyid="a, sig2=""#) == (label != "sig1"))
    #expect(signed.headers["Signature"]?.contains("sig2=:dHdv:") == (label != "sig2"))
  }

  /// The parts of a request as section 2.2 derives them.
  @Test(arguments: [
    ("@method", "https://www.example.com/path?param=value", "GET"),
    ("@target-uri", "https://www.example.com/path?param=value#part", "https://www.example.com/path?param=value"),
    ("@authority", "https://WWW.Example.com/", "www.example.com"),
    ("@authority", "https://www.example.com:443/", "www.example.com"),
    ("@authority", "http://www.example.com:8080/", "www.example.com:8080"),
    ("@authority", "http://[::1]:8080/", "[::1]:8080"),
    ("@scheme", "HTTP://www.example.com/", "http"),
    ("@request-target", "https://www.example.com/path?param=value", "/path?param=value"),
    ("@request-target", "https://www.example.com", "/"),
    ("@path", "https://www.example.com/path?param=value", "/path"),
    ("@path", "https://www.example.com", "/"),
    ("@path", "https://www.example.com/a%20b", "/a%20b"),
    ("@query", "https://www.example.com/path?param=value&foo=bar&baz=bat%2Dman", "?param=value&foo=bar&baz=bat%2Dman"),
    ("@query", "https://www.example.com/path", "?"),
  ])
  func `derived components have the values of the RFC`(name: String, url: String, value: String) throws {
    let request = NetworkRequest(url: try #require(URL(string: url)))
    let base = try signature([SignatureComponent(name)]).base(of: request, created: created)
    #expect(base.hasPrefix("\"\(name)\": \(value)\n"))
  }

  @Test func `the fields of cookies are joined as transports send them`() throws {
    var request = request
    request.headers = ["Cookie": "a=1", "cookie": "b=2"]
    let base = try signature(["cookie"]).base(of: request, created: created)
    #expect(base.contains(#""cookie": a=1; b=2"#))
  }

  @Test func `an item of the query is covered by its name, as section 2.2.8 says`() throws {
    let url =
      "https://www.example.com/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace"
      + "&fa%C3%A7ade%22%3A%20=something"
    let request = NetworkRequest(url: try #require(URL(string: url)))
    let base = try signature([.query("var"), .query("bar"), .query("façade\": ")]).base(of: request, created: created)
    #expect(
      base.hasPrefix(
        """
        "@query-param";name="var": this%20is%20a%20big%0Amultiline%20value
        "@query-param";name="bar": with%20plus%20whitespace
        "@query-param";name="fa%C3%A7ade%22%3A%20": something

        """))
  }

  @Test func `an item of the query is escaped as a form is, apart from spaces`() throws {
    let request = NetworkRequest(url: try #require(URL(string: "https://h/?q=a%2A~b&~n*=-._%20%21%25252A")))
    let base = try signature([.query("q"), .query("~n*")]).base(of: request, created: created)
    #expect(
      base.hasPrefix(
        """
        "@query-param";name="q": a*%7Eb
        "@query-param";name="%7En*": -._%20%21%25252A

        """))
  }

  @Test func `a quote in the name of the key is escaped whatever mark follows it`() async throws {
    let signature = MessageSignature(keyID: "k\"\u{301};tag=x", hmacSHA256: key, covering: ["@method"])
    let signed = try await signature.signed(request, created: created)
    let field = try #require(signed.headers["Signature-Input"])
    #expect(field.utf8.elementsEqual("sig1=(\"@method\");created=1618884473;keyid=\"k\\\"\u{301};tag=x\"".utf8))
  }

  @Test func `several values of a field are joined, without outer spaces`() throws {
    var request = request
    request.headers.append("X-List", "a ")
    request.headers.append("x-list", " b")
    #expect(try signature(["X-List"]).base(of: request, created: created).hasPrefix("\"x-list\": a, b\n"))
  }

  @Test(arguments: ["x-none", "@nothing", "@status", "host"])
  func `a part that the request does not have fails before anything is sent`(name: String) async throws {
    let mock = MockTransport()
    mock.on().respond()
    let behavior = MessageSignatureBehavior(signature([SignatureComponent(name)]))
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [behavior], transport: mock)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("\"\(name)\"") == true)
    #expect(mock.sent.isEmpty)
  }

  @Test func `a repeated component, and a component of a repeated item, are refused`() {
    #expect(throws: NetworkError.self) { try signature(["@method", "@method"]).base(of: request, created: created) }
    let twice = NetworkRequest(url: URL(string: "https://h/?a=1&a=2")!)
    #expect(throws: NetworkError.self) { try signature([.query("a")]).base(of: twice, created: created) }
  }

  @Test func `the parameters of a signature are in the order of the type`() async throws {
    var signature = MessageSignature(keyID: #"k"1\"#, algorithm: "ed25519", covering: ["@method"]) { $0 }
    signature.lifetime = .seconds(60)
    signature.tag = "app"
    let signed = try await signature.signed(request, created: created, nonce: "n")
    #expect(
      signed.headers["Signature-Input"]
        == #"sig1=("@method");created=1618884473;expires=1618884533;nonce="n";alg="ed25519";keyid="k\"1\\";tag="app""#)
  }

  /// The times of a signature that are sent, which are integers of 15 digits at most (RFC 9651 §3.3.1).
  @Test(
    arguments: [
      (1_618_884_473, .seconds(Int64.max), "created=1618884473;expires=999999999999999"),
      (1_618_884_473, .seconds(Int64.max) * 2, "created=1618884473;expires=999999999999999"),
      (1_618_884_473, .seconds(-60), "created=1618884473;expires=1618884413"),
      (1_618_884_473.9, .milliseconds(60_900), "created=1618884473;expires=1618884533"),
      (1e300, .seconds(60), "created=999999999999999;expires=999999999999999"),
      (-.infinity, .seconds(60), "created=-999999999999999;expires=-999999999999999"),
      (.nan, .seconds(60), "created=0;expires=0"),
    ] as [(Double, Duration, String)])
  func `a time that is too far away is the last one that can be sent`(
    created: Double, lifetime: Duration, expected: String
  ) async throws {
    var signature = signature(["@method"])
    signature.lifetime = lifetime
    let signed = try await signature.signed(request, created: Date(timeIntervalSince1970: created))
    #expect(signed.headers["Signature-Input"] == #"sig1=("@method");"# + expected + #";keyid="k""#)
  }

  @Test func `the digest of the body is added, of bytes, a file and no body`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data("x".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let bodies: [(RequestBody?, Digest)] = [
      (.data(Data("x".utf8)), .sha256(of: "x")), (.file(file), .sha256(of: "x")), (nil, .sha256(of: "")),
    ]
    for (body, digest) in bodies {
      let request = NetworkRequest(.post, url: URL(string: "https://h/")!, body: body)
      let signed = try await signature([.contentDigest]).signed(request, created: created)
      #expect(signed.headers["Content-Digest"] == "sha-256=:\(digest.base64):")
    }
  }

  @Test func `the digest of a stream is refused, and one that the user set is kept`() async throws {
    let body = RequestBody.stream { ByteStream(chunks: [Data("x".utf8)]) }
    var request = NetworkRequest(.post, url: URL(string: "https://h/")!, body: body)
    let error = await #expect(throws: NetworkError.self) {
      try await signature([.contentDigest]).signed(request, created: created)
    }
    #expect(error?.message.contains("stream") == true)
    request.headers["Content-Digest"] = "sha-256=:eA==:"
    let signed = try await signature([.contentDigest]).signed(request, created: created)
    #expect(signed.headers["Content-Digest"] == "sha-256=:eA==:")
  }

  @Test func `the error for a part of a file names the remedy`() async throws {
    let body = RequestBody.file(URL(filePath: "/film"), range: 0..<10)
    let request = NetworkRequest(.post, url: URL(string: "https://h/")!, body: body)
    let error = await #expect(throws: NetworkError.self) {
      try await signature([.contentDigest]).signed(request, created: created)
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("a part of a file; set the field Content-Digest yourself") == true)
  }

  @Test func `each send has a new signature, beside other signatures`() async throws {
    let clock = LeapingClock(date: created)
    let transport = ClosureTransport(statuses: [503, 200])
    var (first, second) = (signature(["@method"]), signature(["@path"]))
    (first.includesNonce, second.label) = (true, "sig2")
    let retry = RetryBehavior(RetryPolicy(backoff: Backoff(base: .seconds(5), floor: .seconds(5))))
    let client = NetworkClient(
      transport, clock.requestClock, [.messageSignature(first), .messageSignature(second), retry])
    try await client.send(.get("x"))
    let inputs = transport.sent.map { $0.headers["Signature-Input"] ?? "" }
    try #require(inputs.count == 2)
    #expect(inputs[0] != inputs[1])
    #expect(inputs.allSatisfy { $0.contains("sig1=(") && $0.contains(", sig2=(") })
    #expect(inputs[0].contains("created=1618884473"))
    #expect(!inputs[1].contains("created=1618884473"))
    #expect(transport.sent.allSatisfy { $0.headers.values(for: "Signature").count == 1 })
  }

  @Test func `other origins do not get a signature, and descriptions do not show it`() async throws {
    let transport = ClosureTransport(500)
    let client = NetworkClient(transport, [.messageSignature(signature(["@method"]))])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    let value = try #require(error?.request?.headers["Signature"]?.dropFirst(7).dropLast(2))
    #expect(try !#require(error?.request).curlCommand().contains(value))
    _ = try? await client.send(.get(url: #require(URL(string: "https://other.example/"))))
    _ = try? await client.send(.get("x").with(\.authentication, .none))
    #expect(transport.sent.map { $0.headers.contains("Signature") } == [true, false, false])
    var dumped = ""
    dump(signature(["@method"]), to: &dumped)
    #expect(!dumped.contains(key.base64EncodedString()))
    #expect(dumped.contains("@method"))
  }

  @Test func `a response is shared only if the behavior names its owner`() async throws {
    for owner in [nil, "app"] {
      let transport = ClosureTransport(200, "x", headers: ["Cache-Control": "max-age=60"])
      let behavior = MessageSignatureBehavior(signature(["@method"]), owner: owner)
      let client = NetworkClient(transport, [.caching(MemoryCacheStore()), behavior])
      for _ in 0..<2 { let _: String = try await client.send(.get("x")) }
      #expect(transport.sent.count == (owner == nil ? 2 : 1))
    }
  }
}
