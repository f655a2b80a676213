import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import Testing

@Suite(.limited) struct OAuth1SignatureStepTests {
  private let form: HeaderFields = ["Content-Type": "application/x-www-form-urlencoded"]

  // MARK: Collected parameters, RFC 5849 §3.4.1.3.1

  @Test(arguments: [
    ("a=b+c", ["a=b%20c"]), ("a=b%20c", ["a=b%20c"]), ("a=b%2Bc", ["a=b%2Bc"]), ("a=%FF%fe", ["a=%FF%FE"]),
    ("a=%2525", ["a=%2525"]), ("a=1&a=1&a=0", ["a=1", "a=1", "a=0"]), ("a", ["a="]), ("a=", ["a="]),
    ("=b", ["=b"]), ("=", ["="]), ("&&a&&", ["a="]), ("a=b=c", ["a=b%3Dc"]), ("", []), ("%zz=%", ["%25zz=%25"]),
    ("a=%EF%BB%BFb", ["a=%EF%BB%BFb"]), ("%C3%A9=1&e%CC%81=2", ["%C3%A9=1", "e%CC%81=2"]), ("a;b=c", ["a%3Bb=c"]),
    ("a=%0D%0A", ["a=%0D%0A"]), ("realm=x", ["realm=x"]), ("a=%00", ["a=%00"]), ("*=%7e", ["%2A=~"]),
  ])
  func `a form body is decoded to octets and escaped`(body: String, encoded: [String]) throws {
    let signature = try OAuth1Signature.sample("https://h/", method: .post, headers: form, body: body)
    #expect(signature.ownParameters == encoded)
  }

  @Test func `query, form body and protocol parameters are collected in this order, with duplicates`() throws {
    let signature = try OAuth1Signature.sample("https://h/?x=1&y", method: .post, headers: form, body: "x=1&z=%26")
    #expect(
      signature.collectedParameters.map(\.encoded) == [
        "x=1", "y=", "x=1", "z=%26", "oauth_consumer_key=ck", "oauth_token=tk", "oauth_signature_method=HMAC-SHA1",
        "oauth_timestamp=1700000000", "oauth_nonce=nonce", "oauth_version=1.0",
      ])
  }

  @Test func `protocol parameters in query and body are signed, but for the signature`() throws {
    let signature = try OAuth1Signature.sample(
      "https://h/?oauth_verifier=v&oauth_signature=old", method: .post, headers: form,
      body: "oauth_callback=c&oauth_signatur%65=old&oauth_signature2=s")
    let names = signature.collectedParameters.prefix(3).map(\.encoded)
    #expect(names == ["oauth_verifier=v", "oauth_callback=c", "oauth_signature2=s"])
    #expect(!signature.baseString.contains("old"))
  }

  @Test(arguments: ["oauth_nonce=x", "oauth%5Ftoken"])
  func `a protocol parameter that would be sent twice is refused`(query: String) {
    let error = #expect(throws: NetworkError.self) { try OAuth1Signature.sample("https://h/?\(query)") }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("already") == true)
  }

  @Test(arguments: [
    "application/x-www-form-urlencoded", "Application/X-WWW-Form-URLEncoded",
    "application/x-www-form-urlencoded; charset=utf-8", " application/x-www-form-urlencoded\t;x",
  ])
  func `a body is a form by its media type, whatever the case and the parameters`(type: String) throws {
    let signature = try OAuth1Signature.sample(
      "https://h/", method: .post, headers: ["content-type": type], body: "a=1")
    #expect(signature.ownParameters == ["a=1"])
  }

  @Test(arguments: [
    "application/x-www-form-urlencodedx", "application/x-www-form", "multipart/form-data", "application/json", "",
    "application/x-www-form-urlencoded x",
  ])
  func `a body of another media type is not signed`(type: String) throws {
    let signature = try OAuth1Signature.sample(
      "https://h/", method: .post, headers: ["Content-Type": type], body: "a=1")
    #expect(signature.ownParameters.isEmpty)
    #expect(try OAuth1Signature.sample("https://h/", method: .post, body: "a=1").ownParameters.isEmpty)
  }

  @Test(arguments: [RequestMethod.post, .put, .patch, .delete, .query, "REPORT"])
  func `a form body is signed with any method`(method: RequestMethod) throws {
    let signature = try OAuth1Signature.sample("https://h/", method: method, headers: form, body: "a=1")
    #expect(signature.ownParameters == ["a=1"])
    #expect(signature.baseString.hasPrefix(method.rawValue + "&"))
  }

  // MARK: Parameter string, §3.4.1.3.2

  @Test func `names are sorted by the octets of their escapes, same names by value`() throws {
    let signature = try OAuth1Signature.sample(
      "https://h/?b=2&b=10&a%2F=1&a-=1&a=%C3%A9&a=~&B=1&a%7E=1&%FF=1&e%CC%81=1&f=1")
    let own = signature.parameterString.split(separator: "&").filter { !$0.hasPrefix("oauth_") }
    #expect(
      own == [
        "%FF=1", "B=1", "a=%C3%A9", "a=~", "a%2F=1", "a-=1", "a~=1", "b=10", "b=2", "e%CC%81=1", "f=1",
      ])
  }

  // MARK: Base string URI, §3.4.1.2

  @Test(arguments: [
    ("HTTP://EXAMPLE.com:80/R%20V/x?id=123", "http://example.com/R%20V/x"),
    ("https://www.example.net:8080/?q=1", "https://www.example.net:8080/"),
    ("https://h:443/", "https://h/"), ("http://h:443/", "http://h:443/"), ("https://h:80/", "https://h:80/"),
    ("http://h:/x", "http://h/x"), ("http://h:0080/", "http://h/"), ("http://h", "http://h/"),
    ("http://h?a=1", "http://h/"), ("http://h#f", "http://h/"), ("http://h/p#f?x", "http://h/p"),
    ("http://h/p?a#f", "http://h/p"), ("http://u:p%40@h/p", "http://h/p"),
    ("http://[::1]:8080/p", "http://[::1]:8080/p"),
    ("http://[2001:DB8::1]/", "http://[2001:db8::1]/"), ("http://[::1]:80/", "http://[::1]/"),
    ("http://h/a//b/%2e/c/", "http://h/a//b/%2e/c/"), ("http://h/a%2Fb;v=1", "http://h/a%2Fb;v=1"),
    ("http://h/%c3%a9", "http://h/%c3%a9"), ("http://h/a+b", "http://h/a+b"), ("http://h/?a=http://x:80/", "http://h/"),
  ])
  func `the URI has scheme, host, port and path as they are sent`(url: String, uri: String) throws {
    #expect(try OAuth1Signature.sample(url).baseStringURI == uri)
  }

  @Test(arguments: [
    ("Foo.Example:80", "http://foo.example/"), ("foo:8080", "http://foo:8080/"), ("[::1]:80", "http://[::1]/"),
    ("FOO", "http://foo/"),
  ])
  func `a Host field replaces the authority of the URL`(host: String, uri: String) throws {
    #expect(try OAuth1Signature.sample("http://u@h:9/", headers: ["host": host]).baseStringURI == uri)
  }

  @Test(arguments: [
    "ftp://h/", "mailto:a@b", "/path", "http:///x", "http://h:99999/", "http://h:0/", "http:h", "http://:80/", "http:",
  ])
  func `a URL that cannot be sent is refused`(url: String) throws {
    let error = #expect(throws: NetworkError.self) { try OAuth1Signature.sample(url) }
    #expect(error?.code == .invalidURL)
  }

  @Test(arguments: ["a/b", "a@b", "a, b", "a b", "", "h:x", "h:70000", "[::1", "a\"b"])
  func `an invalid Host field is refused`(host: String) {
    let error = #expect(throws: NetworkError.self) {
      try OAuth1Signature.sample("http://h/", headers: ["Host": host])
    }
    #expect(error?.code == .invalidURL)
  }

  @Test(arguments: [
    ("http://h/a//b/../c/./d%2fe;v=1;?q=a/../b", "http://h/a//c/d%2fe;v=1;?q=a/../b"), ("http://h/..", "http://h/"),
    ("http://h/a/..", "http://h/"), ("http://h/a/b/..", "http://h/a/"), ("http://h/a/.", "http://h/a/"),
    ("http://h/%2e%2e/a", "http://h/%2e%2e/a"), ("http://h/a/...", "http://h/a/..."), ("http://h/.a", "http://h/.a"),
    ("http://h/../../a#f", "http://h/a#f"), ("http://h", "http://h"), ("http://h/./", "http://h/"),
    ("http://h/a/..//b", "http://h//b"),
  ])
  func `dot segments are removed as in the sent URL`(url: String, removed: String) throws {
    #expect(try OAuth1Signature.removingDotSegments(from: #require(URL(string: url))).absoluteString == removed)
  }

  // MARK: Base string, §3.4.1.1

  @Test func `the method is in capitals, and a strange one is escaped`() throws {
    #expect(try OAuth1Signature.sample("https://h/", method: "patch").baseString.hasPrefix("PATCH&"))
    #expect(try OAuth1Signature.sample("https://h/", method: "X$Y").baseString.hasPrefix("X%24Y&"))
  }

  // MARK: Key and signature, §3.4.2, §3.4.3, §3.4.4

  @Test func `both secrets are escaped in the key, which always has its ampersand`() {
    let key = { OAuth1SigningKey(method: .hmacSHA1, consumerSecret: $0, tokenSecret: $1).text }
    #expect(key("", "") == "&")
    #expect(key("a&b", "c d\u{e9}") == "a%26b&c%20d%C3%A9")
  }

  @Test func `HMAC-SHA256 differs only in the hash`() throws {
    let signature = try OAuth1Signature.sample("https://h/p?a=1", signedBy: .hmacSHA256)
    let code = MessageAuthenticator(.sha256, key: Array("cs-canary&ts-canary".utf8))
      .code(for: Array(signature.baseString.utf8))
    #expect(signature.signature == Data(code).base64EncodedString())
    #expect(signature.baseString.contains("oauth_signature_method%3DHMAC-SHA256"))
  }

  @Test func `PLAINTEXT sends the key, over https`() throws {
    let signature = try OAuth1Signature.sample("https://h/", signedBy: .plaintext)
    #expect(signature.signature == "cs-canary&ts-canary")
    #expect(signature.authorizationHeader.hasSuffix("oauth_signature=\"cs-canary%26ts-canary\""))
  }

  @Test func `PLAINTEXT over http is refused unless the options allow it`() throws {
    let error = #expect(throws: NetworkError.self) { try OAuth1Signature.sample("http://h/", signedBy: .plaintext) }
    #expect(error?.code == .oauth1InsecurePlaintext)
    var options = OAuth1Options()
    options.allowsPlaintextOverHTTP = true
    #expect(try OAuth1Signature.sample("http://h/", signedBy: .plaintext, options: options).signature.contains("&"))
  }

  @Test func `PLAINTEXT has no nonce and timestamp, the other methods have both`() throws {
    let url = try #require(URL(string: "https://h/"))
    let parameters = OAuth1ProtocolParameters(consumerKey: "ck", nonce: nil, timestamp: nil)
    let plain = try OAuth1Signature(
      method: .get, url: url, parameters: parameters, key: OAuth1SigningKey(method: .plaintext, consumerSecret: "cs"))
    #expect(
      plain.protocolParameters.map(\.name) == [
        "oauth_consumer_key", "oauth_signature_method", "oauth_version", "oauth_signature",
      ])
    let error = #expect(throws: NetworkError.self) {
      try OAuth1Signature(
        method: .get, url: url, parameters: parameters, key: OAuth1SigningKey(method: .hmacSHA1, consumerSecret: "cs"))
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test(arguments: [("n", nil), (nil, 1)] as [(String?, Int?)])
  func `a signature with a nonce or a timestamp alone is refused`(nonce: String?, timestamp: Int?) throws {
    let url = try #require(URL(string: "https://h/"))
    let error = #expect(throws: NetworkError.self) {
      try OAuth1Signature(
        method: .get, url: url,
        parameters: OAuth1ProtocolParameters(consumerKey: "ck", nonce: nonce, timestamp: timestamp),
        key: OAuth1SigningKey(method: .hmacSHA1, consumerSecret: "cs"))
    }
    #expect(error?.message.contains("needs a nonce and a timestamp") == true)
  }

  @Test(arguments: [0, -1])
  func `a timestamp that is not positive is refused`(timestamp: Int) throws {
    let url = try #require(URL(string: "https://h/"))
    let error = #expect(throws: NetworkError.self) {
      try OAuth1Signature(
        method: .get, url: url,
        parameters: OAuth1ProtocolParameters(consumerKey: "ck", nonce: "n", timestamp: timestamp),
        key: OAuth1SigningKey(method: .hmacSHA1, consumerSecret: "cs"))
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test func `an error of an RSA closure is the cause of the error`() {
    struct Locked: Error {}
    let error = #expect(throws: NetworkError.self) {
      try OAuth1Signature.sample("https://h/", signedBy: .rsaSHA256 { _ in throw Locked() })
    }
    #expect(error?.code == .oauth1SigningFailed)
    #expect(error?.underlyingError is Locked)
  }

  @Test(arguments: [0, 1, 2, 3, 4, 255, 256])
  func `a signature of any length is encoded in Base64`(length: Int) throws {
    let octets = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37) })
    let signature = try OAuth1Signature.sample("https://h/", signedBy: .rsaSHA1 { _ in octets })
    #expect(signature.signature == octets.base64EncodedString())
  }

  // MARK: Parameters as they are sent, §3.5

  @Test func `a realm comes first, quoted and not percent-encoded, and is not signed`() throws {
    var options = OAuth1Options()
    options.realm = "a \"b\" \\c/"
    let signature = try OAuth1Signature.sample("https://h/", options: options)
    #expect(signature.authorizationHeader.hasPrefix(#"OAuth realm="a \"b\" \\c/", oauth_consumer_key="ck", "#))
    #expect(try signature.signature == OAuth1Signature.sample("https://h/").signature)
  }

  @Test func `no token omits the parameter, and an empty token sends an empty one`() throws {
    let url = try #require(URL(string: "https://h/"))
    func header(_ token: String?) throws -> String {
      try OAuth1Signature(
        method: .get, url: url,
        parameters: OAuth1ProtocolParameters(consumerKey: "ck", token: token, nonce: "n", timestamp: 1),
        key: OAuth1SigningKey(method: .hmacSHA1, consumerSecret: "cs")
      ).authorizationHeader
    }
    #expect(try !header(nil).contains("oauth_token"))
    #expect(try header("").contains("oauth_token=\"\""))
  }

  @Test(arguments: [
    ("https://h", "https://h?"), ("https://h/p?", "https://h/p?"), ("https://h/p?a=1#f", "https://h/p?a=1&"),
    ("https://h/p?a&", "https://h/p?a&"), ("https://h/p#f", "https://h/p?"),
  ])
  func `the query location appends after the query and before the fragment`(url: String, start: String) throws {
    var options = OAuth1Options()
    options.location = .query
    let signed = try #require(try OAuth1Signature.sample(url, options: options).signedURL).absoluteString
    #expect(signed.hasPrefix(start + "oauth_consumer_key=ck&"))
    #expect(signed.hasSuffix("#f") == url.hasSuffix("#f"))
  }

  @Test func `the form location appends to a form or makes one, and refuses another body`() throws {
    var options = OAuth1Options()
    options.location = .formBody
    let appended = try OAuth1Signature.sample("https://h/", method: .post, headers: form, body: "a=1", options: options)
    #expect(String(decoding: appended.signedFormBody, as: UTF8.self).hasPrefix("a=1&oauth_consumer_key=ck&"))
    let made = try OAuth1Signature.sample("https://h/", method: .post, options: options)
    #expect(String(decoding: made.signedFormBody, as: UTF8.self).hasPrefix("oauth_consumer_key=ck&"))
    let error = #expect(throws: NetworkError.self) {
      try OAuth1Signature.sample(
        "https://h/", method: .post, headers: ["Content-Type": "text/plain"], body: "a", options: options)
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test(arguments: ["text/plain", "application/json", ""])
  func `the form location refuses another media type even without a body`(type: String) {
    var options = OAuth1Options()
    options.location = .formBody
    for body in [nil, ""] {
      let error = #expect(throws: NetworkError.self) {
        try OAuth1Signature.sample(
          "https://h/", method: .post, headers: ["Content-Type": type], body: body, options: options)
      }
      #expect(error?.code == .invalidRequest)
      #expect(error?.message.contains("Content-Type") == true)
    }
  }

  // MARK: Additional parameters, §3.1

  @Test(arguments: [
    "oauth_consumer_key", "oauth_token", "oauth_signature_method", "oauth_timestamp", "oauth_nonce", "oauth_version",
    "oauth_signature", "realm",
  ])
  func `an additional parameter with the name of a protocol parameter is refused`(name: String) {
    for method in [OAuth1SignatureMethod.hmacSHA1, .plaintext] {
      let error = #expect(throws: NetworkError.self) {
        try OAuth1Signature.sample("https://h/", signedBy: method, additional: [(name, "canary")])
      }
      #expect(error?.code == .invalidRequest)
      #expect(error?.message.contains(name) == true)
      #expect(error?.message.contains("canary") == false)
    }
  }

  @Test func `a repeated additional parameter is refused`() {
    let error = #expect(throws: NetworkError.self) {
      try OAuth1Signature.sample(
        "https://h/", additional: [("oauth_verifier", "a"), ("x", "1"), ("oauth_verifier", "a")])
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("oauth_verifier") == true)
  }

  @Test func `the caller's body hash is refused only if the session computes its own`() throws {
    var options = OAuth1Options()
    #expect(
      try OAuth1Signature.sample("https://h/", additional: [("oauth_body_hash", "h")]).baseString
        .contains("oauth_body_hash%3Dh"))
    options.includesBodyHash = true
    #expect(throws: NetworkError.self) {
      try OAuth1Signature.sample("https://h/", options: options, additional: [("oauth_body_hash", "h")])
    }
  }

  // MARK: Body hash

  @Test func `a body other than a form is sent with its hash, computed by the method of the signature`() throws {
    var options = OAuth1Options()
    options.includesBodyHash = true
    func hash(_ body: String?, _ headers: HeaderFields = [:], _ method: OAuth1SignatureMethod = .hmacSHA1) throws
      -> String?
    {
      try OAuth1Signature.sample(
        "https://h/", method: .put, headers: headers, body: body, signedBy: method, options: options
      )
      .protocolParameters.first { $0.name == "oauth_body_hash" }?.value
    }
    #expect(try hash("Hello World!") == "Lve95gjOVATpfV8EL5X4nxwjKHE=")
    #expect(try hash(nil) == "2jmj7l5rSw0yVb/vlWAYkK/YBwk=")
    #expect(try hash("", [:], .hmacSHA256) == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    #expect(try hash("a=1", form) == nil)
    #expect(try hash("x", [:], .plaintext) == nil)
    #expect(try !OAuth1Signature.sample("https://h/", body: "x").baseString.contains("body_hash"))
  }
}
