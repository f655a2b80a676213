import Foundation
import RequestBehaviors
import Testing

@Suite(.limited) struct RedactorURLTests {
  @Test(arguments: [
    ("https://me:pw@h.example/a/b?page=2&token=x#top", "https://h.example/a/b?page=2&token=REDACTED"),
    ("https://h/?c2VjcmV0", "https://h/?REDACTED"), ("https://h/?page", "https://h/?page"),
    ("https://h/?page=1;token=x", "https://h/?page=1;token=REDACTED"),
    ("https://h/?%70age=x&PAGE=3&", "https://h/?%70age=REDACTED&PAGE=3&"),
    ("https://h/?a=b=c&=x", "https://h/?a=REDACTED&=REDACTED"), ("https://pw@[::1]:8080/x", "https://[::1]:8080/x"),
    ("https://h?x=u:p@h/", "https://h?x=REDACTED"), ("https://h/a@b", "https://h/a@b"),
    ("data:text/plain,secret", "data:REDACTED"), ("/a/b?key=x#y", "/a/b?key=REDACTED"), ("https://h", "https://h"),
    ("https://h/?token#x", "https://h/?REDACTED"),
  ])
  func `user info, fragment and query values are hidden, scheme, host and path are shown`(url: String, shown: String)
    throws
  {
    #expect(Redactor.standard.redact(try #require(URL(string: url))) == shown)
  }

  @Test func `an allowed query name is shown unless it is a sensitive field`() throws {
    var redactor = Redactor.standard
    redactor.allowedQueryNames.formUnion(["State", "api_key"])
    let url = try #require(URL(string: "https://h/?state=open&api_key=x"))
    #expect(redactor.redact(url) == "https://h/?state=open&api_key=REDACTED")
  }

  @Test func `a relative URL is resolved first`() throws {
    let base = try #require(URL(string: "https://u:p@h/v1/"))
    let url = try #require(URL(string: "items?k=v", relativeTo: base))
    #expect(Redactor.standard.redact(url) == "https://h/v1/items?k=REDACTED")
  }
}

@Suite(.limited) struct RedactorLineTests {
  private let redactor = Redactor.standard.hiding(["abcdefgh-canary"])

  @Test func `a line is cut after it is redacted`() {
    let line = redactor.redact(line: String(repeating: "x", count: 150) + " abcdefgh-canary")
    #expect(line == String(repeating: "x", count: 150) + " REDACTED")
    #expect(redactor.redact(line: "a\r\nb\nc" + String(repeating: "x", count: 200)).hasPrefix("a b cx"))
    #expect(redactor.redact(line: String(repeating: "x", count: 200)).count == 160)
  }

  @Test func `a secret at the end of the searched text is hidden`() {
    let token = String(repeating: "x", count: 16_384 - 14)
    #expect(redactor.redact(line: "token=\(token) abcdefgh-canary") == "token=REDACTED REDACTED")
  }
}

@Suite(.limited) struct RedactorHeaderTests {
  @Test(arguments: [
    ("content-type", "text/plain", "text/plain"), ("X-Api-Key", "k", "REDACTED"), ("Cookie", "a=b", "REDACTED"),
    ("Authorization", "Bearer x", "REDACTED"),
    ("Location", "https://u:p@h/x?code=1#t", "https://h/x?code=REDACTED"),
    ("content-location", "/x?page=2&t=1", "/x?page=2&t=REDACTED"),
    ("Referer", "https://h/?q=1", "https://h/?q=REDACTED"),
    (
      "Link", "<https://h/?cursor=a&page=2>; rel=\"next\", </x?k=1>; rel=\"prev\"",
      "<https://h/?cursor=REDACTED&page=2>; rel=\"next\", </x?k=REDACTED>; rel=\"prev\""
    ),
    ("Location", "https://u:p/w@h/x?y", "https://REDACTED"),
    ("Link", "</y>; a=b, <\u{301}/x?k=1>", "</y>; a=b, <\u{301}/x?k=REDACTED>"),
    ("Link", "</x?k=1", "</x?k=REDACTED"), ("Link", "k=1", "REDACTED"),
    ("Set-Cookie", "sid=abc; Path=/; HttpOnly; Secure", "sid=REDACTED; Path=/; HttpOnly; Secure"),
    ("Set-Cookie", "abc", "REDACTED"), ("Set-Cookie", "a=b; Weird=x; y", "a=REDACTED; Weird=REDACTED;REDACTED"),
    (
      "Set-Cookie", "a=b; Expires=Wed, 21 Oct 2037 07:28:00 GMT; SameSite=Lax",
      "a=REDACTED; Expires=Wed, 21 Oct 2037 07:28:00 GMT; SameSite=Lax"
    ),
    ("Set-Cookie", "a=b; Path=/, c=d; Secure, e=f", "a=REDACTED; Path=REDACTED; Secure, e=REDACTED"),
  ])
  func `a value is shown only if it is known to be harmless`(name: String, value: String, shown: String) {
    let headers = Redactor.standard.redact(HeaderFields([.init(name, value)]))
    #expect(headers.map(\.name) == [name])
    #expect(headers.map(\.value) == [shown])
  }

  @Test(arguments: ["Content-Type", "Location", "Set-Cookie", "Link"])
  func `a field that is marked sensitive is hidden though its name is allowed`(name: String) {
    let headers = Redactor.standard.redact(HeaderFields([.init(name, "canary", sensitive: .any)]))
    #expect(headers.field(named: name)?.value == Redactor.placeholder)
    #expect(headers.field(named: name)?.isSensitive == true)
  }

  @Test func `the list of allowed headers can be changed`() {
    var redactor = Redactor(allowedHeaders: ["X-Region"])
    #expect(redactor.redact(["x-region": "eu", "Accept": "*/*"])["X-Region"] == "eu")
    #expect(redactor.redact(["Accept": "*/*"])["Accept"] == Redactor.placeholder)
    redactor.allowedHeaders = ["accept"]
    #expect(redactor.redact(["X-Region": "eu", "Accept": "*/*"]).map(\.value) == [Redactor.placeholder, "*/*"])
  }
}

@Suite(.limited) struct RedactorFieldTests {
  @Test(arguments: [
    "password", "PASSWORD", "pass_word", "access_token", "accessToken", "refresh-token", "client_secret",
    "clientSecret",
    "secret", "api_key", "apiKey", "X-API-KEY", "authorization", "oauth_token", "oauth_token_secret", "newPassword",
    "user[password]", "user.password", "password2", "_token", "tokens", "userAPIKey", "pin", "login_pin",
    "verificationCode", "authorization_code", "pass", "db_pass", "DBPass", "PASS", "-token-", "token_1", "2fa_token",
    "URLToken",
  ])
  func `names of secrets are sensitive in any notation`(name: String) {
    #expect(Redactor.standard.isSensitive(field: name))
  }

  @Test(arguments: [
    "name", "max_tokens", "shipping", "tokenType", "secretary", "passwordless", "", "_", "42", "code", "spin",
    "bypass", "compass", "myTokens", "passed", "token_count", "é", "country_code",
  ])
  func `names that only contain such a word are not`(name: String) {
    #expect(!Redactor.standard.isSensitive(field: name))
  }
}

extension RedactorFieldTests {
  /// Written out, so that none can be lost from the list.
  private static let names = """
    access_code access_key access_tokens account_key activation_code api_key api_tokens apikey app_key application_key
    assertion auth auth_code auth_key authorization authorization_code backup_code backup_codes bearer card_number
    client_key code_verifier confirmation_code connection_string consumer_key cookie cookies credential credentials
    credit_card csrf cvc cvv device_code dpop encryption_key hmac jwt license_key login_code master_key mfa_code nonce_secret
    oauth_nonce oauth_verifier oob_code one_time_code otp pass passcode passphrase passwd password password_confirmation
    password_hash passwords pin private_key pwd recovery_code recovery_codes refresh_tokens reset_code saml_response
    secret secret_key secrets security_code service_key session session_handle session_id shared_key sid sig signature
    signing_key sms_code ssn subscription_key token tokens totp two_factor_code user_code user_key verification_code
    request_uri verification_uri_complete verification_url_complete xsrf
    """.split(whereSeparator: \.isWhitespace).map(String.init)

  @Test(arguments: names)
  func `every name of the default list hides its value in JSON, forms and text`(name: String) {
    func shown(_ body: String, _ type: String) -> String {
      Redactor.standard.redact(body: Data(body.utf8), contentType: type, limit: 4_096)
    }
    #expect(shown("{\"\(name)\":\"canary\"}", "application/json") == "{\"\(name)\":\"REDACTED\"}")
    #expect(shown("\(name)=canary", "application/x-www-form-urlencoded") == "\(name)=REDACTED")
    #expect(shown("\(name): canary", "text/plain") == "\(name): REDACTED")
    #expect(shown("<\(name)>canary</\(name)>", "text/xml") == "<\(name)>REDACTED</\(name)>")
  }

  @Test func `the default list contains exactly the tested names`() {
    #expect(Redactor.defaultSensitiveFields.subtracting(Self.names).isEmpty)
  }

  @Test(arguments: ["code", "device_code", "user_code", "code=x&state", "Device-Code"])
  func `a form hides the codes of a sign-in too`(name: String) {
    let form = Redactor.standard.redact(
      body: Data("\(name)=canary".utf8), contentType: "application/x-www-form-urlencoded", limit: 99)
    #expect(form.hasSuffix("=REDACTED"))
    #expect(!form.contains("canary"))
  }

  @Test(arguments: [
    ("Authorization", true), ("proxy-authorization", true), ("Cookie", true), ("X-API-Key", true),
    ("X-Auth-Token", true), ("Ocp-Apim-Subscription-Key", true), ("DPoP", true), ("X-Amz-Security-Token", true),
    ("Accept", false), ("Content-Type", false), ("If-None-Match", false), ("X-Request-ID", false), ("Nonce", false),
    ("Idempotency-Key", false), ("traceparent", false), ("User-Agent", false), ("WWW-Authenticate", false),
  ])
  func `names of credential fields are recognized`(name: String, isCredential: Bool) {
    #expect(Redactor.isCredentialField(name) == isCredential)
  }
}

@Suite(.limited) struct RedactorTextTests {
  @Test(arguments: [
    ("no https://u:p@h/x?k=v#f here", "no https://h/x?k=REDACTED here"),
    ("('https://h/?k=v')", "('https://h/?k=REDACTED')"),
    ("Authorization: Bearer abc, def", "Authorization: REDACTED"),
    ("got Bearer abc.def-ghi!", "got Bearer REDACTED"),
    ("basic authentication failed", "basic authentication failed"),
    ("password=hunter2&user=me", "password=REDACTED&user=me"), ("api_key: 'a b c' x", "api_key: REDACTED x"),
    (#"{"token":"abc","n":1}"#, #"{"token":REDACTED,"n":1}"#),
    (#"{\"token\":\"abc\",\"n\":1}"#, #"{\"token\":REDACTED,\"n\":1}"#),
    ("<Password>abc</Password>", "<Password>REDACTED</Password>"),
    ("<a token=\"abc\" b=\"c\"/>", "<a token=REDACTED b=\"c\"/>"),
    ("Cookie: a=b; c=d\nHost: h", "Cookie: REDACTED\nHost: h"), ("token", "token"), ("token:", "token:REDACTED"),
    ("the operation timed out", "the operation timed out"), ("ünï password=ö", "ünï password=REDACTED"), ("", ""),
    ("token = \"unclosed secret", "token = REDACTED"), ("token => abc d", "token => REDACTED d"),
    (#"password: 'it\'s' x"#, "password: REDACTED x"), ("pass=a\\", "pass=REDACTED"),
  ])
  func `values that look like secrets are hidden`(text: String, shown: String) {
    #expect(Redactor.standard.redact(text: text) == shown)
    #expect(Redactor.standard.redact(text: shown) == shown, "once more changes nothing")
  }

  @Test(arguments: [
    ("<password type=\"plain\">abc</password>", "<password type=REDACTED>REDACTED</password>"),
    ("<token><![CDATA[abc</token>]]></token> x", "<token>REDACTED</token> x"),
    (
      "<s:Password s:Type='>'>a b</s:Password><id>1</id>",
      "<s:Password s:Type=REDACTED>REDACTED</s:Password><id>1</id>"
    ),
    ("<credential><user>u</user><key>k</key></credential>", "<credential>REDACTED</credential>"),
    ("<token><token>a</token>b</token>c", "<token>REDACTED</token>c"),
    ("<secret value=\"abc\"/><a>b</a>", "<secret value=REDACTED/><a>b</a>"), ("<pin></pin><a/>", "<pin></pin><a/>"),
    ("<password>cut off <b>here", "<password>REDACTED"), ("<password type=\"pl", "<passwordREDACTED"),
    ("<tokens\n>1</tokens\n>", "<tokens\n>REDACTED</tokens\n>"), ("a < token", "a < token"), ("<", "<"),
    ("<token-type>mac</token-type>", "<token-type>mac</token-type>"),
  ])
  func `the content of an XML element with a sensitive name is hidden`(text: String, shown: String) {
    #expect(Redactor.standard.redact(text: text) == shown)
    #expect(Redactor.standard.redact(text: shown) == shown, "once more changes nothing")
  }

  private static let webToken = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

  @Test(arguments: [
    ("\(webToken)", "REDACTED"), ("got \(webToken), said", "got REDACTED, said"),
    ("id-\(webToken)", "id-REDACTED"), ("v1.\(webToken)!", "v1.REDACTED!"),
    ("https://h/reset/\(webToken)/x?page=1", "https://h/reset/REDACTED/x?page=1"),
    ("heyJude and eyJ and greyJoy1234567890123456", "heyJude and eyJ and greyJoy1234567890123456"),
  ])
  func `a JSON Web Token is hidden wherever it stands`(text: String, shown: String) {
    #expect(Redactor.standard.redact(text: text) == shown)
    #expect(Redactor.standard.redact(text: shown) == shown, "once more changes nothing")
  }

  @Test func `a JSON Web Token is hidden in a string of JSON and in the path of a URL`() throws {
    let body = Data(#"{"note":"\#(Self.webToken)","at":"/a/b"}"#.utf8)
    #expect(
      Redactor.standard.redact(body: body, contentType: "application/json", limit: 999)
        == #"{"note":"REDACTED","at":"/a/b"}"#)
    let table = Data(#"{"\#(Self.webToken)":1,"v1.\#(Self.webToken)":{"a":"b"}}"#.utf8)
    #expect(
      Redactor.standard.redact(body: table, contentType: "application/json", limit: 999)
        == #"{"REDACTED":1,"v1.REDACTED":{"a":"b"}}"#)
    let url = try #require(URL(string: "https://h/a/\(Self.webToken)/b"))
    #expect(Redactor.standard.redact(url) == "https://h/a/REDACTED/b")
  }

  @Test(arguments: [
    (
      "x -----BEGIN PRIVATE KEY-----\nMIIB\nVg==\n-----END PRIVATE KEY----- y",
      "x -----BEGIN PRIVATE KEY-----REDACTED-----END PRIVATE KEY----- y"
    ),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIB cut", "-----BEGIN RSA PRIVATE KEY-----REDACTED"),
    ("private_key: -----BEGIN EC-----\nM I\n-----END EC----- y", "private_key: REDACTED y"),
    ("key-----BEGIN EC-----MI-----END EC-----", "key-----BEGIN EC-----REDACTED-----END EC-----"),
    ("------- BEGIN -------", "------- BEGIN -------"), ("-----BEGIN", "-----BEGIN"),
  ])
  func `the content of a PEM block is hidden`(text: String, shown: String) {
    #expect(Redactor.standard.redact(text: text) == shown)
    #expect(Redactor.standard.redact(text: shown) == shown, "once more changes nothing")
  }

  @Test func `a PEM block is hidden in a string of JSON`() {
    let body = Data(#"{"note":"-----BEGIN KEY-----\nMIIB\n-----END KEY-----\n","n":1}"#.utf8)
    #expect(
      Redactor.standard.redact(body: body, contentType: "application/json", limit: 999)
        == #"{"note":"-----BEGIN KEY-----REDACTED-----END KEY-----\n","n":1}"#)
  }
}
