import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import Testing

@Suite(.limited) struct OAuth1ExplanationTests {
  private let form: HeaderFields = ["Content-Type": "application/x-www-form-urlencoded"]

  @Test func `the explanation shows every step`() throws {
    let signature = try OAuth1Signature.sample("https://h/p?b=2&a=1")
    let text = signature.explanation(showingSecrets: true)
    for step in [
      signature.parameterString, signature.baseStringURI, signature.baseString, signature.signingKey,
      "oauth_signature=" + OAuth1EncodedPair("", signature.signature).encoded.dropFirst(),
    ] {
      #expect(text.contains(step))
    }
    #expect(text.split(separator: "\n").filter { $0.contains("§") }.count == 6)
  }

  @Test func `descriptions do not show a secret by default`() throws {
    let signature = try OAuth1Signature.sample(
      "https://h/", method: .post, headers: form, body: "x_auth_password=pw-canary",
      additional: [("oauth_verifier", "verifier-canary")])
    let plain = try OAuth1Signature.sample("https://h/", signedBy: .plaintext)
    let key = OAuth1SigningKey(method: .plaintext, consumerSecret: "cs-canary", tokenSecret: "ts-canary")
    let values: [Any] = [
      signature, plain, key, OAuth1Consumer(key: "ck", secret: "cs-canary"),
      OAuth1Credentials(token: "token-canary", secret: "ts-canary"),
    ]
    for value in values {
      var dumped = ""
      dump(value, to: &dumped)
      for text in ["\(value)", String(reflecting: value), "\([value])", dumped] { #expect(!text.contains("canary")) }
    }
    #expect(signature.explanation(showingSecrets: true).contains("pw-canary"))
    #expect(plain.explanation(showingSecrets: true).contains("cs-canary"))
  }

  @Test func `the redacted explanation keeps the steps consistent with each other`() throws {
    let text = try OAuth1Signature.sample("https://h/", method: .post, headers: form, body: "b=1&password=x")
      .explanation()
    #expect(text.contains("&password=REDACTED\n"))
    #expect(text.contains("%26password%3DREDACTED\n"))
  }

  @Test func `equal base strings have no difference, whatever surrounds them`() throws {
    let signature = try OAuth1Signature.sample("https://h/?a=1")
    #expect(signature.difference(from: signature.baseString) == nil)
    #expect(
      signature.difference(from: "\n \"\(signature.baseString.replacingOccurrences(of: "&", with: "&amp;"))\" \n")
        == nil)
  }

  @Test func `the first difference is named with its place`() throws {
    let signature = try OAuth1Signature.sample("https://h/p?a=1&b=x")
    func difference(_ service: OAuth1Signature) -> OAuth1BaseStringMismatch? {
      signature.difference(from: service.baseString)
    }

    let method = try #require(difference(.sample("https://h/p?a=1&b=x", method: .post)))
    #expect(method.part == .method)
    #expect(method.offset == 0)
    #expect(method.signed == "GET")
    #expect(method.service == "POST")

    let scheme = try #require(difference(.sample("http://h/p?a=1&b=x")))
    #expect(scheme.part == .uri)
    #expect(scheme.service == "http://h/p")
    #expect(scheme.hint.contains("proxy that ends TLS"))
    #expect(try #require(difference(.sample("https://i/p?a=1&b=x"))).hint.contains("Host field"))
    #expect(try #require(difference(.sample("https://h/p/?a=1&b=x"))).hint.contains("slash"))
    #expect(try #require(difference(.sample("https://h/q?a=1&b=x"))).hint.contains("rewritten"))

    let value = try #require(difference(.sample("https://h/p?a=1&b=y")))
    #expect(value.part == .parameters)
    #expect(value.signed == "b=x")
    #expect(value.service == "b=y")
    #expect(signature.baseString.utf8.dropFirst(value.offset).starts(with: "x".utf8))

    let missing = try #require(difference(.sample("https://h/p?a=1")))
    #expect(missing.signed == "b=x")
    #expect(missing.service == nil)
    #expect(missing.hint.contains("Content-Type"))
    let extra = try #require(difference(.sample("https://h/p?a=1&b=x&c=1")))
    #expect(extra.signed == nil)
    #expect(extra.service == "c=1")
  }

  @Test(arguments: [
    ("a=b+c", "a=b%2Bc", "taken for each other"), ("a=b%20c", "a=b%2520c", "once more than it should"),
    ("a=b%2520c", "a=b%20c", "before it was signed"), ("a=1", "a", "lost"), ("a=%FF", "a=%FE", "another"),
    ("a=1&a=1", "a=1", "did not collect"),
  ])
  func `a usual mistake is recognised`(signed: String, service: String, hint: String) throws {
    let ours = try OAuth1Signature.sample("https://h/?\(signed)")
    let theirs = try OAuth1Signature.sample("https://h/?\(service)")
    #expect(try #require(ours.difference(from: theirs.baseString)).hint.contains(hint))
  }

  @Test func `a wrong order and a wrong form are distinguished`() throws {
    let signature = try OAuth1Signature.sample("https://h/?b=1&a=1")
    let swapped = signature.baseString.replacingOccurrences(of: "a%3D1%26b%3D1", with: "b%3D1%26a%3D1")
    #expect(signature.difference(from: swapped)?.hint.contains("sorted") == true)
    #expect(signature.difference(from: "GET&x")?.part == .form)
    #expect(signature.difference(from: "")?.part == .form)
  }

  @Test func `a difference does not show the value of a password`() throws {
    let ours = try OAuth1Signature.sample("https://h/", method: .post, headers: form, body: "x_auth_password=canary")
    let theirs = try OAuth1Signature.sample("https://h/", method: .post, headers: form, body: "x_auth_password=canary2")
    let difference = try #require(ours.difference(from: theirs.baseString))
    #expect(difference.signed == "x_auth_password=REDACTED")
    #expect(!difference.description.contains("canary"))
  }
}
