import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// Secrets that are known are hidden wherever they stand, in whatever encoding.
@Suite(.limited) struct KnownSecretsTests {
  private static let secret = #"s3cr3t/+ä?"\ x&<'"#

  private static func encoded(_ allowed: CharacterSet) throws -> String {
    try #require(secret.addingPercentEncoding(withAllowedCharacters: allowed))
  }

  /// Secrets that are in no text: of many, all are looked for at once.
  private static let others = (0..<100).map { "\($0)-other-secret" }

  private func shown(_ text: String, _ secrets: [String] = [Self.secret]) -> String {
    let shown = Redactor.standard.redact(text: "a,\(text),b", hiding: secrets)
    #expect(Redactor.standard.redact(text: "a,\(text),b", hiding: secrets + Self.others) == shown)
    return shown
  }

  @Test(arguments: [
    ("Bearer  q7Yz-token", "q7Yz-token"), ("basic dXNlcjpxN1l6LXRva2Vu", "q7Yz-token"), ("q7Yz-token ", "q7Yz-token "),
    ("Digest a=\"x\", token=\"q7Yz%2Dtoken\"", "q7Yz-token"), ("sid=q7Yz-token", "q7Yz-token"),
    ("Bearer \tq7Yz-token", "q7Yz-token"), ("Bearer\tq7Yz-token", "q7Yz-token"),
    ("token=q7Yz-token, v=22", "q7Yz-token"), ("Basic dXNlcjrMiHE3WXo=", "\u{308}q7Yz"),
  ])
  func `the parts of a credential are its secrets`(value: String, secret: String) {
    let headers = HeaderFields([.init(value.hasPrefix("sid") ? "Cookie" : "Authorization", value)])
    #expect(Redactor.standard.secrets(in: headers).contains(secret))
  }

  /// A comparison of each form with each place would take minutes.
  @Test func `thousands of secrets in a response, and a text with an escape at each place, cost little`() async throws {
    let values = (0..<5_000).map { "\"canary \($0)\"" }.joined(separator: ",")
    let text = String(repeating: "%\\u0063&#99;+", count: 1_500)
    let transport = ClosureTransport { request in
      let body = #"{"message":"\#(text) canary%207","token":[\#(values)]}"#
      return NetworkResponse(
        request: request, statusCode: 400, headers: ["Content-Type": "application/json"], body: .data(Data(body.utf8)))
    }
    let error = try await #require(throws: NetworkError.self) { try await NetworkClient(transport).send(.get("x")) }
    #expect(!"\(error)".contains("canary"))
  }

  @Test func `the longest of the secrets that begin at a place is hidden`() {
    let secrets = ["q7Yz", "q7Yz-token", "q7Yz-token-2 of"]
    for text in ["q7Yz-token-2 of", "q7Yz-token-2+of", "q7Yz%2Dtoken-2%20of", "q7Yz-token", "q7Yz", "q7Yz%2dtoken"] {
      #expect(shown(text, secrets) == "a,REDACTED,b")
    }
    #expect(shown("q7Yz-token-3", secrets) == "a,REDACTED-3,b")
    #expect(shown("q7Yz%2Dtoken-2", secrets) == "a,REDACTED-2,b")
  }

  /// Each of the values is judged by all pairs, which are read once.
  @Test func `the pairs of a long location cost little`() async throws {
    let transport = ClosureTransport { request in
      guard request.url.query() == nil else { return NetworkResponse(request: request, statusCode: 200) }
      let pairs = String(repeating: "code=&state=a&", count: 10_000)
      return NetworkResponse(request: request, statusCode: 302, headers: ["Location": "/?\(pairs)"])
    }
    let response: NetworkResponse = try await NetworkClient(transport).send(.get("x"))
    #expect(response.statusCode == 200)
    #expect(!"\(response)".contains("state=a"))
  }

  @Test func `the attributes of a cookie do not count as secrets`() {
    let headers: HeaderFields = ["Set-Cookie": "sid=q7Yz-token; Domain=example.com; Path=/articles"]
    #expect(!Redactor.standard.secrets(in: headers).contains { ["example.com", "/articles"].contains($0) })
  }

  @Test(arguments: [
    ("q7%2DYz", "q7-Yz"), ("q7+Yz", "q7 Yz"), ("q7%zzYz", "q7%zzYz"), ("q7Yz", "q7Yz"), ("q7%2DYz%zz", "q7-Yz%zz"),
  ])
  func `the value of a sensitive name in a query or form is a secret`(value: String, secret: String) throws {
    let form = "page=2&to%6ben=\(value)&sort=name"
    let found = Redactor.standard.secrets(
      inBody: Data(form.utf8), contentType: "application/x-www-form-urlencoded")
    #expect(found == [secret])
  }

  @Test(arguments: [
    (#"{"user": {"email": "ann@shop.example"}}"#, ["ann@shop.example"]),
    (
      #"{"user": {"email": ["ann@shop.example", {"old": "bo@shop.example"}]}}"#,
      ["ann@shop.example", "bo@shop.example"]
    ),
    (#"{"items": [{"serial": 7001, "on": true}, {"serial": "q7-Yz"}]}"#, ["7001", "q7-Yz"]),
    (#"{"pin": 271828, "user": {"name": "Ann"}}"#, ["271828"]),
    ("\u{FEFF}" + #"{"password": "q7-Yz", "user": {"email": "ann@shop.example"}}"#, ["q7-Yz", "ann@shop.example"]),
    (#"{"email": "ann@shop.example", "user": {"name": "Ann"}}"#, []),
  ])
  func `the value at a sensitive pointer of JSON, or of a sensitive name, is a secret`(
    body: String, secrets: [String]
  ) {
    let pointers: Set = ["/user/email", "/items/*/serial"]
    let redactor = Redactor(sensitiveFields: ["password", "pin"], sensitivePointers: pointers)
    #expect(Set(redactor.secrets(inBody: Data(body.utf8), contentType: "application/json")) == Set(secrets))
  }

  @Test func `an error that repeats the value at a sensitive pointer does not show it`() throws {
    let redactor = Redactor(sensitivePointers: ["/user/email"])
    let request = NetworkRequest(
      .post, url: try #require(URL(string: "https://shop.example.com/users")),
      headers: ["Content-Type": "application/json"],
      body: .data(Data(#"{"user": {"email": "ann@shop.example"}}"#.utf8)))
    let shown = redactor.hiding(secretsOf: request).redact(text: "ann@shop.example is taken")
    #expect(shown == "REDACTED is taken")
  }

  @Test func `a secret is hidden in plain text`() {
    #expect(shown(Self.secret) == "a,REDACTED,b")
  }

  @Test func `a secret is hidden percent-encoded, whatever is escaped and in either case`() throws {
    let unreserved = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7F}"))
    let forms = try [
      Self.encoded(.alphanumerics), Self.encoded(unreserved), Self.encoded(.urlQueryAllowed),
      Self.encoded(.urlPathAllowed), Query([.init("q", Self.secret)]).percentEncoded.replacing("q=", with: ""),
    ]
    for form in forms {
      #expect(shown(form) == "a,REDACTED,b", "\(form)")
      #expect(shown(form.lowercased(), [Self.secret.lowercased()]) == "a,REDACTED,b", "\(form)")
    }
    #expect(shown("two+words%21", ["two words!"]) == "a,REDACTED,b")
    #expect(shown("1+2%2F3", ["1+2/3"]) == "a,REDACTED,b")
    #expect(shown("100%25%zz", ["100%%zz"]) == "a,REDACTED,b")
  }

  @Test(arguments: [5, 6, 10, 32]) func `a word of any bytes is hidden in base64 wherever it begins`(length: Int) {
    var random = SeededGenerator(seed: UInt64(length))
    for start in 0..<60 {
      let secret = String((0..<length).map { _ in "abcXYZ0189-_".randomElement(using: &random) ?? "a" })
      let around = String(repeating: "ÿ>?~", count: start)
      let plain = Data("\(around.utf8.prefix(start).map { String(UnicodeScalar($0)) }.joined())\(secret)~?".utf8)
        .base64EncodedString()
      let urlSafe = plain.replacing("+", with: "-").replacing("/", with: "_")
      #expect(shown(plain, [secret]).contains("REDACTED"), "\(secret) after \(start)")
      #expect(shown(urlSafe, [secret]).contains("REDACTED"), "\(secret) after \(start)")
    }
  }

  @Test func `a secret is hidden in JSON escapes, and in those of JSON inside JSON`() throws {
    func quoted(_ text: String) throws -> String {
      String(decoding: try JSONEncoder().encode(text).dropFirst().dropLast(), as: UTF8.self)
    }
    let once = try quoted(Self.secret)
    #expect(once != Self.secret)
    #expect(shown(once) == "a,REDACTED,b")
    #expect(shown(try quoted(once)) == "a,REDACTED,b")
    #expect(shown(#"\u0073\u00333cr3t\/+\u00e4?\"\\ x\u0026<\'"#, [#"s33cr3t/+ä?"\ x&<'"#]) == "a,REDACTED,b")
    #expect(shown(#"key\ud83d\ude00\n\td"#, ["key😀\n\td"]) == "a,REDACTED,b")
    #expect(shown(String(reflecting: Self.secret)) == "a,\"REDACTED\",b")
  }

  @Test(arguments: [
    (#"{"next":"https://example.com/f/ab\u002Bcd%2Fef?page=2"}"#, #"{"next":"https://example.com/f/REDACTED?page=2"}"#),
    (#"{"next":"https://example.com/f/ab\u002Bcd%2Fef"}"#, #"{"next":"https://example.com/f/REDACTED"}"#),
    (#"{"next":"/f/ab%2Bcd\/ef x"}"#, #"{"next":"/f/REDACTED x"}"#),
  ])
  func `a secret in a URL of JSON is hidden, though it has escapes of both`(body: String, expected: String) {
    let redactor = Redactor.standard.hiding(["ab+cd/ef"])
    #expect(redactor.redact(body: Data(body.utf8), contentType: "application/json", limit: 1_000) == expected)
  }

  @Test func `secrets that are equal as text but differ in bytes are both hidden`() {
    let forms = ["p\u{E4}sswort9", "pa\u{308}sswort9"]
    #expect(shown(forms[0], forms) == "a,REDACTED,b")
    #expect(shown(forms[1], forms) == "a,REDACTED,b")
  }

  @Test func `a secret is hidden with the entities of XML`() {
    #expect(shown("s3cr3t/+&#228;?&quot;\\ x&amp;&lt;&apos;") == "a,REDACTED,b")
    #expect(shown("s3cr3t/+&#xE4;?\"\\ x&amp;&lt;'") == "a,REDACTED,b")
  }

  @Test(arguments: ["", "u:", "me:", "user:", "ünï:"], ["", "!", "??", "\u{FF}\u{FE}\u{FB}"])
  func `a secret is hidden in base64 of a text that contains it`(before: String, after: String) {
    let data = Data((before + Self.secret + after).utf8)
    let plain = data.base64EncodedString()
    let safe = plain.replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
    let percent = plain.replacing("/", with: "%2F").replacing("+", with: "%2b")
    for form in [plain, safe, percent, plain.replacing("/", with: #"\/"#)] {
      let text = shown(form)
      #expect(text.contains("REDACTED"), "\(form) is shown as \(text)")
      // The rest may identify the user, but does not show the secret.
      let rest = text.replacing("REDACTED", with: "").dropFirst(2).dropLast(2)
      #expect(rest.count <= 8, "\(form) is shown as \(text)")
    }
    #expect(shown("https://h/a/\(safe)") == "a,https://h/a/REDACTED,b")
  }

  @Test func `of secrets with the same beginning the longest is hidden, and those of less than four bytes are ignored`()
  {
    #expect(shown("abcdefgh abcd abc", ["abcd", "abcdefgh", "abc", ""]) == "a,REDACTED REDACTED abc,b")
  }

  @Test func `a secret that equals a field's name does not reveal the field's value`() {
    #expect(shown("token=canary; code", ["token"]) == "a,REDACTED=REDACTED; code,b")
    let body = Data(#"{"password":"canary","n":"my password"}"#.utf8)
    #expect(
      Redactor.standard.hiding(["password"]).redact(body: body, contentType: "application/json", limit: 99)
        == #"{"REDACTED":"REDACTED","n":"my REDACTED"}"#)
  }

  @Test func `a passphrase of several words is hidden whole behind a sensitive name`() {
    let phrase = "correct horse battery staple"
    #expect(shown("password=\(phrase)", [phrase]) == "a,password=REDACTED,b")
  }

  @Test func `the placeholder is not redacted again`() {
    #expect(shown("token=x redacted", ["redacted", "acted>"]) == "a,token=REDACTED REDACTED,b")
  }

  @Test(arguments: [
    (#"{"note":"a s3cr3t\/key b","n":12345678}"#, "application/json", #"{"note":"a REDACTED b","n":REDACTED}"#),
    ("note=a%20s3cr3t%2Fkey&b=1", "application/x-www-form-urlencoded", "note=a%20REDACTED&b=1"),
    ("<a>s3cr3t/key</a>", "application/xml", "<a>REDACTED</a>"), ("s3cr3t/key", "text/plain", "REDACTED"),
  ])
  func `a known secret is hidden in a body under a harmless name`(body: String, type: String, expected: String) {
    let redactor = Redactor.standard.hiding(["s3cr3t/key", "12345678"])
    #expect(redactor.redact(body: Data(body.utf8), contentType: type, limit: 4_096) == expected)
  }

  @Test(arguments: ["text/plain", "application/json", "application/x-www-form-urlencoded"])
  func `a known secret that the end of an excerpt cuts off is hidden`(type: String) {
    let value = "k0123456789abcdefghij"
    let body = type == "application/json" ? #"{"a":"\#(value)"}"# : "a=\(value)&b=cc"
    for limit in 1..<body.utf8.count {
      let text = Redactor.standard.hiding([value]).redact(body: Data(body.utf8), contentType: type, limit: limit)
      #expect(!text.contains(value.prefix(4)), "cut at \(limit): \(text)")
    }
  }

  @Test func `a known secret is hidden in URLs and in fields that are shown`() throws {
    let redactor = Redactor.standard.hiding(["bot123:key"])
    let url = try #require(URL(string: "https://h/bot123%3Akey/send?page=bot123:key"))
    #expect(redactor.redact(url) == "https://h/REDACTED/send?page=REDACTED")
    let headers = redactor.redact(["User-Agent": "app bot123:key", "Location": "/x/bot123:key", "ETag": "\"1\""])
    #expect(headers.map(\.value) == ["app REDACTED", "/x/REDACTED", "\"1\""])
  }

  @Test func `secrets can be added to those that are known`() {
    let redactor = Redactor.standard.hiding(["first secret"]).hiding(["second secret"])
    #expect(redactor.redact(text: "first secret, second secret") == "REDACTED, REDACTED")
    #expect(Redactor.standard.redact(text: "first secret") == "first secret")
  }
}
