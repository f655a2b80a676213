import Foundation
import RequestBehaviors
import Testing

@Suite(.limited) struct RedactorBodyTests {
  private func shown(
    _ body: String, _ type: String? = "application/json", limit: Int = 4096, _ redactor: Redactor = .standard
  )
    -> String
  {
    redactor.redact(body: Data(body.utf8), contentType: type, limit: limit)
  }

  @Test(arguments: [
    (#"{"user":"me","password":"x\"y","n":1}"#, #"{"user":"me","password":"REDACTED","n":1}"#),
    (#"{"access_token": {"a":[1,"}"]}, "b": [true,null]}"#, #"{"access_token": "REDACTED", "b": [true,null]}"#),
    (#"{"pin":1234,"token":null}"#, #"{"pin":"REDACTED","token":"REDACTED"}"#),
    (#"{"pass\u0077ord":"x"}"#, #"{"pass\u0077ord":"REDACTED"}"#),
    (#"[{"secret":"x"},{"a":"b"}]"#, #"[{"secret":"REDACTED"},{"a":"b"}]"#),
    (#""token""#, #""REDACTED""#), ("[]", "[]"), ("{}", "{}"), (" [1.5e-3, -2] ", " [1.5e-3, -2] "),
    ("{\"a\":1}\n{\"token\":\"x\"}\n", "{\"a\":1}\n{\"token\":\"REDACTED\"}\n"),
    (#"{"next":"https:\/\/u:p@h\/x?a=1\u0026code=2"}"#, #"{"next":"https://h/x?a=REDACTED&code=REDACTED"}"#),
    (#"{"inner":"{\"token\":\"abc\"}"}"#, #"{"inner":"{\"token\":REDACTED}"}"#),
    (#"{"at":"2024-01-01T00:00:00Z","e":"caf\u00e9"}"#, #"{"at":"2024-01-01T00:00:00Z","e":"caf\u00e9"}"#),
    (#"{"at":"2024-01-01T00:00:00Z pin:1"}"#, #"{"at":"2024-01-01T00:00:00Z pin:REDACTED"}"#),
    (#"{"at":"2024-01-01T00:00:00.5+01:00"}"#, #"{"at":"2024-01-01T00:00:00.5+01:00"}"#),
    (#"{"message":"used Bearer abc"}"#, #"{"message":"used Bearer REDACTED"}"#),
    (
      #"{"a":"\ud83d\ude00 token=x \ud83d y \n\t\b\f\r\/"}"#,
      #"{"a":"😀 token=REDACTED \\ud83d y \n\t\u0008\u000c\r/"}"#
    ),
    (
      #"{"verificationCode":"1","authorization_code":"2","pass":"3"}"#,
      #"{"verificationCode":"REDACTED","authorization_code":"REDACTED","pass":"REDACTED"}"#
    ),
    (#"{"xml":"<password a=\"b\">c</password>"}"#, #"{"xml":"<password a=REDACTED>REDACTED</password>"}"#),
  ])
  func `sensitive members of JSON are hidden and the rest is shown as it came`(body: String, expected: String) {
    #expect(shown(body) == expected)
  }

  @Test(arguments: [
    ("Bearer canary", "Bearer REDACTED"), ("sent Basic canary twice", "sent Basic REDACTED twice"),
    ("(DPoP canary", "(DPoP REDACTED"), ("_.bearer canary", "_.bearer REDACTED"),
    ("caféBearer canary", "caféBearer REDACTED"), ("a-----Bearer canary", "a-----Bearer REDACTED"),
    ("-----BEGIN KEY-----canary-----END KEY-----", "-----BEGIN KEY-----REDACTED-----END KEY-----"),
    ("is eyJhbGciOiJIUzI1NiJ9.canary it", "is REDACTED it"),
    ("Bearers canary", "Bearers canary"), ("a-Bearer canary", "a-Bearer canary"),
    ("basic authentication canary", "basic authentication canary"), ("Bearer", "Bearer"),
    ("an issue as people write it", "an issue as people write it"),
  ])
  func `a string of JSON with spaces only hides what follows the name of a scheme`(text: String, expected: String) {
    #expect(shown(#"{"a":"\#(text)"}"#) == #"{"a":"\#(expected)"}"#)
  }

  @Test(arguments: [
    #"{password: "canary"}"#, #"{'password': 'canary'}"#, #"{"password" "canary"}"#, #"{"password"="canary"}"#,
    #"{"password": canary canary}"#, #"{"a": 'canary'}"#, #"{"a": "x"canary"}"#, #"{"a": "x" "password": "canary"}"#,
    "canary",
    #"]"canary""#, #"{"a":1}}{"canary":"#, #"password=canary"#, "{\"a\":\u{1}\"canary\"}", #"[1 "canary"]"#,
    #"{"a":nul "canary"}"#,
    "\u{FEFF}{\"password\":\"canary\"}", #"{"password":'can,ary canary'}"#,
  ])
  func `malformed JSON is not shown from the first error on`(body: String) {
    #expect(!shown(body).contains("canary"))
    #expect(shown(body).contains("not JSON>"))
  }

  @Test func `JSON that is cut off does not leak a secret`() {
    let body =
      #"{"a":"b","deep":[{"client_secret":"canary\"canary","n":[1,2]},{"token":{"x":"canary"}}],"refresh_token":"canary"}"#
    for length in 0...body.utf8.count {
      let excerpt = String(decoding: body.utf8.prefix(length), as: UTF8.self)
      #expect(!shown(excerpt).contains("can"), "cut at \(length)")
      #expect(!shown(excerpt).contains("no JSON"), "cut at \(length): \(shown(excerpt))")
      #expect(!shown(body, limit: length).contains("can"), "limit \(length)")
    }
  }

  @Test(arguments: [
    ("application/json", #"{"next":"https://user:canary@h.example/x"}"#),
    ("application/json", #"{"next":"https://canary@h.example/x"}"#),
    ("application/json", #"{"next":"https:\/\/user:canary@h.example\/x"}"#),
    ("text/plain", "see https://user:canary@h.example/x"),
    ("application/x-www-form-urlencoded", "a=1&next=https%3A%2F%2Fuser%3Acanary%40h.example%2Fx"),
  ])
  func `the user info of a URL that the limit cuts off is hidden`(type: String, body: String) {
    for limit in 1...body.utf8.count { #expect(!shown(body, type, limit: limit).contains("can"), "limit \(limit)") }
  }

  @Test func `a URL that ends with the body is shown`() {
    #expect(shown("see https://h.example:8080", "text/plain") == "see https://h.example:8080")
  }

  @Test func `JSON pointers name further places, with a star for any member or element`() {
    var redactor = Redactor.standard
    redactor.sensitivePointers = ["/user/email", "/items/*/serial", "/list/1", "/a~1b/c~0d"]
    let body =
      #"{"user":{"email":"x","n":"m"},"items":[{"serial":1,"email":"y"},{"serial":[2]}],"list":["p","q"],"a/b":{"c~d":0},"email":"z"}"#
    let expected =
      #"{"user":{"email":"REDACTED","n":"m"},"items":[{"serial":"REDACTED","email":"y"},{"serial":"REDACTED"}],"list":["p","REDACTED"],"a/b":{"c~d":"REDACTED"},"email":"z"}"#
    #expect(shown(body, limit: 4096, redactor) == expected)
  }

  @Test func `names of fields can be added`() {
    let redactor = Redactor(sensitiveFields: ["IBAN"])
    #expect(
      shown(#"{"iban":"DE1","my_iban":"x","token":"t"}"#, limit: 99, redactor)
        == #"{"iban":"REDACTED","my_iban":"REDACTED","token":"t"}"#)
  }

  @Test(arguments: [
    ("grant_type=password&password=x&user=me", "grant_type=password&password=REDACTED&user=me"),
    ("code=x&client%5Fsecret=y&scope=a", "code=REDACTED&client%5Fsecret=REDACTED&scope=a"),
    ("user%5Bpassword%5D=x&bare&=&", "user%5Bpassword%5D=REDACTED&REDACTED&=&"),
    ("next=https%3A%2F%2Fh%2F%3Fk%3Dv&a=b%20c", "next=https://h/?k=REDACTED&a=b%20c"),
    ("next=https%3A%2F%2Fu%3Ap%40h%2F100%&a=b", "next=https://h/100%&a=b"),
    ("a=eyJhbGciOiJIUzI1NiJ9.canary&b=1", "a=REDACTED&b=1"), ("a=Bearer+canary&b=1+2", "a=Bearer REDACTED&b=1+2"),
    (
      "a=-----BEGIN+KEY-----%0Acanary%0A-----END+KEY-----&b=1",
      "a=-----BEGIN KEY-----REDACTED-----END KEY-----&b=1"
    ),
  ])
  func `sensitive fields of a form are hidden`(body: String, expected: String) {
    #expect(shown(body, "application/x-www-form-urlencoded; charset=utf-8") == expected)
  }

  @Test(arguments: [
    ("image/png", "<12 bytes of image/png>"), ("multipart/form-data; boundary=x", "<12 bytes of multipart/form-data>"),
    (nil, "<12 bytes of unknown type>"), ("application/octet-stream", "<12 bytes of application/octet-stream>"),
    ("text/plain", "hello, world"), ("application/problem+json", #"<12 bytes that are not JSON>"#),
    ("Application/Atom+XML", "hello, world"),
  ])
  func `only text is shown`(type: String?, expected: String) {
    #expect(shown("hello, world", type) == expected)
  }

  @Test func `bytes that are not UTF-8 are described, whatever their type says`() {
    let gzip = Data([0x1F, 0x8B, 0x08, 0x00])
    #expect(
      Redactor.standard.redact(body: gzip, contentType: "text/plain", limit: 9) == "<4 bytes of text/plain, not UTF-8>")
    #expect(Redactor.standard.redact(body: Data([0x41, 0]), contentType: "text/plain", limit: 9).hasPrefix("<2 bytes"))
    #expect(Redactor.standard.redact(body: Data(), contentType: "text/plain", limit: 9) == "")
  }

  @Test func `the output is limited and does not cut a character`() {
    #expect(shown("ääää", "text/plain", limit: 5) == "ää <cut off, 8 bytes in all>")
    #expect(shown("abcdef", "text/plain", limit: 6) == "abcdef")
    #expect(shown("abcdef", "text/plain", limit: 0) == "<6 bytes of text/plain>")
    #expect(shown("abcdef", "text/plain", limit: -1) == "<6 bytes of text/plain>")
    // A body that is shorter than the limit, and longer once its values are hidden.
    let short = #"{"pin":1,"otp":2,"cvc":3}"#
    #expect(shown(short, limit: 30) == #"{"pin":"REDACTED","otp":"REDAC <cut off, 25 bytes in all>"#)
    let body = "{" + String(repeating: #""pin":1,"#, count: 1000) + #""a":1}"#
    #expect(shown(body, limit: 100).utf8.count < 140)
  }
}
