import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import TestSupport
import Testing

/// The codes and the state of a sign-in, beside what else has these names.
@Suite(.limited) struct SignInRedactionTests {
  private func shown(_ body: String, _ type: String = "application/json") -> String {
    Redactor.standard.redact(body: Data(body.utf8), contentType: type, limit: 4_096)
  }

  @Test(arguments: [
    #"{"device_code":"canary","user_code":"WDJB-MJHT"}"#,
    #"{"grant_type":"authorization_code","code":"canary"}"#,
    #"{"code":"canary","redirectUri":"app:/done"}"#,
    #"{"state":"canary","client_id":"app"}"#,
    #"{"code":"c4n4ry0123456789"}"#, #"{"code":"4/0AeaYSHcanary"}"#, #"{"code":"482913"}"#,
    #"{"login":{"code":"c4n4ry-01f2-45ab"}}"#,
  ])
  func `JSON hides the codes of a sign-in`(body: String) {
    for canary in ["canary", "c4n4ry", "WDJB", "482913"] { #expect(!shown(body).contains(canary)) }
  }

  @Test(arguments: [
    #"{"code":"not_found","message":"no such issue"}"#, #"{"code":"INVALID-ARGUMENT"}"#, #"{"code":"US"}"#,
    #"{"code":404}"#, #"{"code":"E1001"}"#, #"{"code":"ERR_2023_LIMIT"}"#, #"{"code":"40412"}"#,
    #"{"state":"open","id":1}"#, #"{"code":"failed","state":"open"}"#, #"[{"state":"open"},{"state":"closed"}]"#,
  ])
  func `JSON shows the codes of errors and countries, and the states of things`(body: String) {
    #expect(shown(body) == body)
  }

  @Test(arguments: [
    (#"{"code":"Sqx7-c4nary-0001","state":"Wz9-st4te-0002","redirect_uri":"app:/cb"}"#, "application/json"),
    (#"{"state":"Wz9-st4te-0002","code":"Sqx7-c4nary-0001","redirect_uri":"app:/cb"}"#, "application/json"),
    ("state=Wz9-st4te-0002&code=Sqx7-c4nary-0001", "application/x-www-form-urlencoded"),
    ("state=Wz9-st4te-0002&code=Sqx7-c4nary-0001", "text/plain"),
    ("code=Sqx7-c4nary-0001&state=Wz9-st4te-0002", "text/plain"),
  ])
  func `an excerpt that ends before the other names of a sign-in hides its code and state`(
    body: String, contentType: String
  ) {
    for limit in 0...body.utf8.count {
      let shown = Redactor.standard.redact(body: Data(body.utf8), contentType: contentType, limit: limit)
      #expect(!shown.contains("Sq") && !shown.contains("Wz"), "shown at a limit of \(limit): \(shown)")
    }
  }

  /// Texts of a megabyte, each of which looks like the beginning of a secret again and again.
  ///
  /// Work that grows with the square of the length would take hours.
  @Test(arguments: ["a:", "a?b:", "state=x&", "code=", "code=?", "state=(", "code=1#a:", "REDACTED", "REDACTED-1 "])
  func `the work for a text grows with its length`(word: String) {
    let text = String(repeating: word, count: 1_000_000 / word.utf8.count)
    let shown = Redactor.standard.redact(text: text)
    #expect(shown.isEmpty == false)
  }

  @Test(arguments: [
    ("see app:/cb?code=canary&x=1 now", "see app:REDACTED now"),
    ("see app:/cb#code=canary now", "see app:REDACTED now"),
    ("a:b:c?code=canary d:e", "a:REDACTED d:e"),
    ("x:/y?a=1 app:/cb?code=canary", "x:/y?a=1 app:REDACTED"),
    ("cb?code=canary&state=canary, then", "cb?code=REDACTED&state=REDACTED, then"),
    ("cb#code=canary&state=canary then", "cb#code=REDACTED&state=REDACTED then"),
    ("code=7 state=open", "code=7 state=open"),
    ("a=1?code=7 state=open&code=canary", "a=1?code=7 state=REDACTED&code=REDACTED"),
  ])
  func `text hides the pairs of a sign-in, each run of pairs for itself`(text: String, expected: String) {
    #expect(Redactor.standard.redact(text: text) == expected)
  }

  @Test(arguments: [
    ("https://h/issues?state=open&page=2", "https://h/issues?state=open&page=2"),
    ("https://h/cb?code=canary&state=canary", "https://h/cb?code=REDACTED&state=REDACTED"),
    ("https://h/cb?error=access_denied&state=canary", "https://h/cb?error=REDACTED&state=REDACTED"),
    (
      "https://h/authorize?response_type=code&state=canary", "https://h/authorize?response_type=REDACTED&state=REDACTED"
    ),
    ("app://cb?code=canary&state=canary", "app://cb?code=REDACTED&state=REDACTED"),
  ])
  func `the state of a URL is a secret in a sign-in only`(url: String, expected: String) throws {
    #expect(Redactor.standard.redact(try #require(URL(string: url))) == expected)
    #expect(Redactor.standard.redact(text: "see \(url) there") == "see \(expected) there")
  }

  @Test(arguments: [
    ("state=open&labels=bug", "state=open&labels=bug"), ("code=canary&state=canary", "code=REDACTED&state=REDACTED"),
    ("client_id=app&state=canary", "client_id=app&state=REDACTED"),
  ])
  func `the state of a form is a secret in a sign-in only`(form: String, expected: String) {
    #expect(shown(form, "application/x-www-form-urlencoded") == expected)
  }

  @Test(arguments: [
    "no handler for com.example.app:/done?code=canary&state=canary", "opened com.example.app:/done?code=canary",
    "unexpected app:?state=canary&code=canary.", "'com.example.app:/done#access_token=canary'",
    "callback code=canary&state=canary failed", "(?state=canary&client_id=app)",
  ])
  func `text hides the callback of a sign-in, also with a private scheme`(text: String) {
    #expect(!Redactor.standard.redact(text: text).contains("canary"))
  }

  @Test(arguments: [
    "failed: code=404", "state=open", "list: state=open&page=2", "path:/usr/lib?x=1", "error:what?", "12:30?code=1",
  ])
  func `text shows codes and states of other things`(text: String) {
    #expect(Redactor.standard.redact(text: text) == text)
  }

  @Test func `an error hides the code of a callback that it repeats without its name`() async throws {
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 400, headers: ["Content-Type": "application/json"],
        body: .data(Data(#"{"detail":"c4nary-c0de-0001 was used, st4te-0002 is unknown"}"#.utf8)))
    }
    let client = NetworkClient(transport)
    let requests: [Request<Void>] = [
      .get("cb", query: ["code": "c4nary-c0de-0001", "state": "st4te-0002"]),
      .post("cb", body: .form(["code": "c4nary-c0de-0001", "state": "st4te-0002"])),
      .post("cb", body: .json(["code": "c4nary-c0de-0001", "state": "st4te-0002", "client_id": "app"])),
    ]
    for request in requests {
      let error = try await #require(throws: NetworkError.self) { try await client.send(request) }
      var dumped = ""
      dump(error, to: &dumped)
      for text in ["\(error)", dumped, error.localizedDescription] {
        #expect(!text.contains("c4nary"))
        #expect(!text.contains("st4te"))
      }
    }
  }

  @Test func `the description and dump of OAuth's parameters show no token and no verifier`() {
    var parameters = OAuth1ProtocolParameters(
      consumerKey: "key-canary", token: "token-canary", nonce: "n", timestamp: 1)
    parameters.additional = [(name: "oauth_verifier", value: "verifier-canary")]
    var dumped = ""
    dump(parameters, to: &dumped)
    for text in ["\(parameters)", String(reflecting: parameters), "\([parameters])", dumped] {
      #expect(!text.contains("canary"))
      #expect(text.contains("oauth_verifier"))
    }
  }

  @Test func `the dump of a transport or a client does not show a sent request`() async throws {
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.bearer("token-canary")], transport: URLSessionTransport())
    var dumped = ""
    dump(client, to: &dumped)
    dump(client.configuration, to: &dumped)
    dump(URLSessionTransport(), to: &dumped)
    #expect(!dumped.contains("canary"))
    #expect("\(URLSessionTransport())" == "URLSessionTransport")
  }
}
