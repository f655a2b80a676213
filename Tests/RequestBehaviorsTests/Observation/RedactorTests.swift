import Foundation
import RequestBehaviors
import Testing

@Suite struct RedactorURLTests {
  @Test(arguments: [
    ("https://me:pw@h.example/a/b?page=2&token=x#top", "https://h.example/a/b?page=2&token=<redacted>"),
    ("https://h/?c2VjcmV0", "https://h/?<redacted>"), ("https://h/?page", "https://h/?page"),
    ("https://h/?page=1;token=x", "https://h/?page=1;token=<redacted>"),
    ("https://h/?%70age=x&PAGE=3&", "https://h/?%70age=<redacted>&PAGE=3&"),
    ("https://h/?a=b=c&=x", "https://h/?a=<redacted>&=<redacted>"), ("https://pw@[::1]:8080/x", "https://[::1]:8080/x"),
    ("https://h?x=u:p@h/", "https://h?x=<redacted>"), ("https://h/a@b", "https://h/a@b"),
    ("data:text/plain,secret", "data:<redacted>"), ("/a/b?key=x#y", "/a/b?key=<redacted>"), ("https://h", "https://h"),
    ("https://h/?token#x", "https://h/?<redacted>"),
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
    #expect(redactor.redact(url) == "https://h/?state=open&api_key=<redacted>")
  }

  @Test func `a relative URL is resolved first`() throws {
    let base = try #require(URL(string: "https://u:p@h/v1/"))
    let url = try #require(URL(string: "items?k=v", relativeTo: base))
    #expect(Redactor.standard.redact(url) == "https://h/v1/items?k=<redacted>")
  }
}

@Suite struct RedactorHeaderTests {
  @Test(arguments: [
    ("content-type", "text/plain", "text/plain"), ("X-Api-Key", "k", "<redacted>"), ("Cookie", "a=b", "<redacted>"),
    ("Authorization", "Bearer x", "<redacted>"),
    ("Location", "https://u:p@h/x?code=1#t", "https://h/x?code=<redacted>"),
    ("content-location", "/x?page=2&t=1", "/x?page=2&t=<redacted>"),
    ("Referer", "https://h/?q=1", "https://h/?q=<redacted>"),
    (
      "Link", "<https://h/?cursor=a&page=2>; rel=\"next\", </x?k=1>; rel=\"prev\"",
      "<https://h/?cursor=<redacted>&page=2>; rel=\"next\", </x?k=<redacted>>; rel=\"prev\""
    ),
    ("Location", "https://u:p/w@h/x?y", "https://<redacted>"),
    ("Link", "</x?k=1", "</x?k=<redacted>"), ("Link", "k=1", "<redacted>"),
    ("Set-Cookie", "sid=abc; Path=/; HttpOnly; Secure", "sid=<redacted>; Path=/; HttpOnly; Secure"),
    ("Set-Cookie", "abc", "<redacted>"), ("Set-Cookie", "a=b; Weird=x; y", "a=<redacted>; Weird=<redacted>;<redacted>"),
    (
      "Set-Cookie", "a=b; Expires=Wed, 21 Oct 2037 07:28:00 GMT; SameSite=Lax",
      "a=<redacted>; Expires=Wed, 21 Oct 2037 07:28:00 GMT; SameSite=Lax"
    ),
    ("Set-Cookie", "a=b; Path=/, c=d; Secure, e=f", "a=<redacted>; Path=<redacted>; Secure, e=<redacted>"),
  ])
  func `a value is shown only if it is known to be harmless`(name: String, value: String, shown: String) {
    let headers = Redactor.standard.redact(HTTPHeaders([.init(name, value)]))
    #expect(headers.map(\.name) == [name])
    #expect(headers.map(\.value) == [shown])
  }

  @Test(arguments: ["Content-Type", "Location", "Set-Cookie", "Link"])
  func `a field that is marked sensitive is hidden though its name is allowed`(name: String) {
    let headers = Redactor.standard.redact(HTTPHeaders([.init(name, "canary", sensitive: .any)]))
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

@Suite struct RedactorFieldTests {
  @Test(arguments: [
    "password", "PASSWORD", "pass_word", "access_token", "accessToken", "refresh-token", "client_secret",
    "clientSecret",
    "secret", "api_key", "apiKey", "X-API-KEY", "authorization", "oauth_token", "oauth_token_secret", "newPassword",
    "user[password]", "user.password", "password2", "_token", "tokens", "userAPIKey", "pin", "login_pin",
  ])
  func `names of secrets are sensitive however they are written`(name: String) {
    #expect(Redactor.standard.isSensitive(field: name))
  }

  @Test(arguments: [
    "name", "max_tokens", "shipping", "tokenType", "secretary", "passwordless", "", "_", "42", "code", "spin",
  ])
  func `names that only contain such a word are not`(name: String) {
    #expect(!Redactor.standard.isSensitive(field: name))
  }
}

@Suite struct RedactorTextTests {
  @Test(arguments: [
    ("no https://u:p@h/x?k=v#f here", "no https://h/x?k=<redacted> here"),
    ("('https://h/?k=v')", "('https://h/?k=<redacted>')"),
    ("Authorization: Bearer abc, def", "Authorization: <redacted>"),
    ("got Bearer abc.def-ghi!", "got Bearer <redacted>"),
    ("basic authentication failed", "basic authentication failed"),
    ("password=hunter2&user=me", "password=<redacted>&user=me"), ("api_key: 'a b c' x", "api_key: <redacted> x"),
    (#"{"token":"abc","n":1}"#, #"{"token":<redacted>,"n":1}"#),
    (#"{\"token\":\"abc\",\"n\":1}"#, #"{\"token\":<redacted>,\"n\":1}"#),
    ("<Password>abc</Password>", "<Password><redacted></Password>"),
    ("<a token=\"abc\" b=\"c\"/>", "<a token=<redacted> b=\"c\"/>"),
    ("Cookie: a=b; c=d\nHost: h", "Cookie: <redacted>\nHost: h"), ("token", "token"), ("token:", "token:<redacted>"),
    ("the operation timed out", "the operation timed out"), ("ünï password=ö", "ünï password=<redacted>"), ("", ""),
    ("token = \"unclosed secret", "token = <redacted>"),
  ])
  func `what looks like a secret is hidden`(text: String, shown: String) {
    #expect(Redactor.standard.redact(text: text) == shown)
    #expect(Redactor.standard.redact(text: shown) == shown, "once more changes nothing")
  }

  @Test func `known secrets are hidden raw, percent-encoded and in base64`() throws {
    let secret = "s3cr3t/+ä?"
    let base64 = Data(secret.utf8).base64EncodedString()
    let percent = try #require(secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    let shown = Redactor.standard.redact(text: "a \(secret) b \(base64) c \(percent) d", hiding: [secret, "b"])
    #expect(shown == "a <redacted> b <redacted> c <redacted> d")
  }
}
