import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

struct ShopSignature {
  let secret: Data
}

extension ShopSignature: CredentialBehavior {
  var order: BehaviorOrder { .signing }
  var credential: String { "shop" }

  func modify(_ request: inout NetworkRequest) {
    let time = "\(Int(request.call.clock.date().timeIntervalSince1970))"
    let text = "\(request.method) \(request.url.path()) \(time)"
    let code = Digest.hmacSHA256(of: text, key: secret)
    request.headers["X-Time"] = time
    request.headers.set(
      "X-Signature", code.base64, sensitive: origins)
  }
}

func isGenuine(_ body: Data, signature: String, secret: Data) -> Bool {
  Digest(hexadecimal: signature)
    == Digest.hmacSHA256(of: body, key: secret)
}

struct SigV4 {
  let accessKey: String
  let secretKey: String
  let region: String
  let service: String
}

extension SigV4: CredentialBehavior {
  var order: BehaviorOrder { .signing }
  var credential: String { "aws" }

  func modify(_ request: inout NetworkRequest) async throws {
    let style = Date.ISO8601FormatStyle(timeZone: .gmt)
      .year().month().day().dateSeparator(.omitted)
      .time(includingFractionalSeconds: false).timeSeparator(.omitted)
    let time = request.call.clock.date().formatted(style) + "Z"
    let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
    request.headers["X-Amz-Date"] = time

    let fields = signedFields(of: request)
    let names = fields.map(\.name).joined(separator: ";")
    let path = request.url.path(percentEncoded: true)
    let lines =
      [request.method.rawValue, path.isEmpty ? "/" : path]
      + [sortedQuery(of: request.url)]
      + fields.map { "\($0.name):\($0.value)" }
      + ["", names, try await bodyHash(of: request)]
    let hash = Digest.sha256(of: lines.joined(separator: "\n"))
    let text = ["AWS4-HMAC-SHA256", time, scope, hash.hexadecimal]

    var key = Data("AWS4\(secretKey)".utf8)
    for part in scope.split(separator: "/") {
      key = Digest.hmacSHA256(of: String(part), key: key).bytes
    }
    let signature = Digest.hmacSHA256(
      of: text.joined(separator: "\n"), key: key)
    let value = """
      AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), \
      SignedHeaders=\(names), Signature=\(signature)
      """
    request.headers.set("Authorization", value, sensitive: origins)
  }
}

extension SigV4 {
  private func signedFields(
    of request: NetworkRequest
  ) -> [(name: String, value: String)] {
    let own = request.headers.map { ($0.name.lowercased(), $0.value) }
      .filter { $0.0 == "content-type" || $0.0.hasPrefix("x-amz-") }
    return ([("host", request.url.host() ?? "")] + own)
      .sorted { $0.0 < $1.0 }.map { (name: $0.0, value: $0.1) }
  }

  private func sortedQuery(of url: URL) -> String {
    let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    return (parts?.queryItems ?? [])
      .map { (escaped($0.name), escaped($0.value ?? "")) }
      .sorted { $0 < $1 }
      .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
  }

  private func escaped(_ text: String) -> String {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    let plain = CharacterSet(charactersIn: letters + "0123456789-._~")
    return text.addingPercentEncoding(withAllowedCharacters: plain)
      ?? text
  }

  private func bodyHash(
    of request: NetworkRequest
  ) async throws -> String {
    switch request.body?.content {
    case nil: return Digest.sha256(of: "").hexadecimal
    case .data(let data): return Digest.sha256(of: data).hexadecimal
    case .file(let file):
      return try await Digest.sha256(ofFile: file).hexadecimal
    default: return "UNSIGNED-PAYLOAD"
    }
  }
}

/// The samples of "Signing as your API wants it", compiled and run.
@Suite(.limited) struct SigningSamplesTests {
  private let accessKey = "AKIDEXAMPLE"
  private let secretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
  private let secret = Data("secret".utf8)
  private let baseURL = URL(string: "https://example.amazonaws.com")!

  private func fields(of request: Request<Void>, _ client: NetworkClient, _ date: Date) async throws -> HeaderFields {
    let mock = MockTransport(baseURL: baseURL)
    mock.on().respond()
    mock.on(.post).respond()
    var configuration = client.configuration
    configuration.clock = ManualClock(date: date).requestClock
    try await NetworkClient(configuration: configuration, transport: mock).send(request)
    return try #require(mock.sent.first?.headers)
  }

  private static let unreserved =
    "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

  /// Requests of the test suite that AWS publishes, by name, and their signatures.
  @Test(arguments: [
    ("get-vanilla", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    (
      "get-vanilla-empty-query-key", "?Param1=value1",
      "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"
    ),
    (
      "get-vanilla-query-order-key-case", "?Param2=value2&Param1=value1",
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
    ),
    (
      "get-vanilla-query-unreserved", "?\(unreserved)=\(unreserved)",
      "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"
    ),
    (
      "get-vanilla-utf8-query", "?%E1%88%B4=bar", "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"
    ),
    ("get-unreserved", unreserved, "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
    ("get-utf8", "%E1%88%B4", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
    ("post-vanilla", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    (
      "post-x-www-form-urlencoded", "", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
    ),
  ])
  func `SigV4 signs the published test suite`(name: String, target: String, signature: String) async throws {
    let client = NetworkClient(
      baseURL: baseURL,
      behaviors: [
        SigV4(
          accessKey: accessKey, secretKey: secretKey,
          region: "us-east-1", service: "service")
      ])
    let url = try #require(URL(string: "https://example.amazonaws.com/" + target))
    let request: Request<Void> =
      switch name {
      case "post-vanilla": .post(url: url)
      case "post-x-www-form-urlencoded": .post(url: url, body: .form(["Param1": "value1"]))
      default: .get(url: url)
      }
    let date = Date(timeIntervalSince1970: 1_440_938_160)
    let names = name.hasSuffix("urlencoded") ? "content-type;host;x-amz-date" : "host;x-amz-date"
    #expect(
      try await fields(of: request, client, date)["Authorization"]
        == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        + "SignedHeaders=\(names), Signature=\(signature)")
  }

  @Test func `a signature of a few lines is sent to its origin only`() async throws {
    let client = NetworkClient(baseURL: baseURL, behaviors: [ShopSignature(secret: secret)])
    let date = Date(timeIntervalSince1970: 1_000)
    let sent = try await fields(of: .get("orders"), client, date)
    #expect(sent["X-Time"] == "1000")
    #expect(sent["X-Signature"] == Digest.hmacSHA256(of: "GET /orders 1000", key: secret).base64)
    let other = try await fields(of: .get(url: #require(URL(string: "https://other.example/orders"))), client, date)
    #expect(other["X-Signature"] == nil)
  }

  @Test func `HTTP messages are signed`() async throws {
    let signature = MessageSignature(
      keyID: "client-1", hmacSHA256: secret,
      covering: ["@method", "@target-uri", "content-digest"])
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.messageSignature(signature)])
    let date = Date(timeIntervalSince1970: 1_000)
    let sent = try await fields(of: .post("orders", body: .data(Data("x".utf8))), client, date)
    #expect(
      sent["Signature-Input"]
        == #"sig1=("@method" "@target-uri" "content-digest");created=1000;keyid="client-1""#)
    #expect(sent["Content-Digest"] == "sha-256=:\(Digest.sha256(of: "x").base64):")
  }

  @Test func `other algorithms are a closure`() async throws {
    struct Key: Sendable { func signature(for data: Data) throws -> Data { Data("signed".utf8) } }
    let key = Key()
    let signature = MessageSignature(
      keyID: "client-1", algorithm: "ed25519",
      covering: ["@method", "@authority", "@path"]
    ) { base in try key.signature(for: base) }
    let client = NetworkClient(baseURL: baseURL, behaviors: [.messageSignature(signature)])
    let sent = try await fields(of: .get("orders"), client, Date(timeIntervalSince1970: 1_000))
    #expect(sent["Signature"] == "sig1=:\(Data("signed".utf8).base64EncodedString()):")
    #expect(sent["Signature-Input"]?.contains(#";alg="ed25519""#) == true)
  }

  @Test func `the text that was signed can be shown`() async throws {
    let signature = MessageSignature(keyID: "client-1", hmacSHA256: secret, covering: ["@method", "@path"])
    let mock = MockTransport()
    mock.on().respond(401)
    let client = NetworkClient(baseURL: mock.baseURL, behaviors: [.messageSignature(signature)], transport: mock)
    let created = Date(timeIntervalSince1970: 1_000)
    do {
      try await client.send(.get("orders"))
      Testing.Issue.record("the mock refuses")
    } catch {
      let error = error as? NetworkError
      if let request = error?.request {
        print(try signature.base(of: request, created: created))
      }
      #expect(error?.request != nil)
    }
  }
}

/// The samples of ``Digest``.
@Suite(.limited) struct DigestSamplesTests {
  @Test func `hashes and codes are made`() {
    let (body, text, secret) = (Data("abc".utf8), "text", "key")
    var request = NetworkRequest(url: baseURL)
    let hash = Digest.sha256(of: body).hexadecimal
    let code = Digest.hmacSHA256(of: text, key: Data(secret.utf8))
    request.headers.set("X-Signature", code.base64, sensitive: .baseURL)
    #expect(hash == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(request.headers.contains("X-Signature"))
  }

  @Test func `a received signature is checked`() {
    let (body, secret) = (Data("{}".utf8), Data("key".utf8))
    let code = Digest.hmacSHA256(of: body, key: secret).hexadecimal
    #expect(isGenuine(body, signature: code, secret: secret))
    #expect(!isGenuine(Data("[]".utf8), signature: code, secret: secret))
    #expect(!isGenuine(body, signature: "no code", secret: secret))
  }

  @Test func `components are named`() {
    let parts: [SignatureComponent] = [
      "@method", "@path", .query("page"), "content-type",
    ]
    #expect(parts.map(\.name) == ["@method", "@path", "@query-param", "content-type"])
  }
}
