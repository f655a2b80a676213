import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import TestSupport
import Testing

/// Requests of random octets, signed, and verified by code that shares only the hash with the signer.
@Suite(.limited) struct OAuth1SignaturePropertyTests {
  @Test func `any octets in a name or a value survive`() throws {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<100 {
      let parameters = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        OAuth1EncodedPair(name: [0x61] + random.octets(upTo: 8), value: random.octets(upTo: 20))
      }
      let query = parameters.map(\.encoded).joined(separator: "&")
      let signature = try OAuth1Signature.sample("https://h/?\(query)")
      #expect(Array(signature.collectedParameters.prefix(parameters.count)) == parameters)
    }
  }

  @Test func `the verifier computes the same base string for any octets in path, query and body`() throws {
    var random = SeededGenerator(seed: 2)
    for _ in 0..<80 {
      let path = escaped(random.octets(upTo: 12), &random)
      let query = form(&random)
      let body = form(&random)
      let type = Bool.random(using: &random) ? "application/x-www-form-urlencoded" : "text/plain"
      let signature = try OAuth1Signature.sample(
        "http://Host.example:80/\(path)?\(query)", method: .post, headers: ["Content-Type": type], body: body)
      var verifier = OAuth1Verifier(consumers: ["ck": "cs-canary"], tokens: ["tk": "ts-canary"], now: 1_700_000_000)
      let received = OAuth1Verifier.Received(
        method: "POST", target: try target("http://Host.example:80/\(path)?\(query)"),
        fields: [
          ("Host", "Host.example:80"), ("Content-Type", type), ("Authorization", signature.authorizationHeader),
        ], body: Array(body.utf8))
      #expect(verifier.baseString(of: received) == signature.baseString)
      #expect(verifier.verify(received) == .accepted)
    }
  }

  @Test func `the signature does not depend on the order of the parameters`() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<40 {
      let pieces = (0..<6).map { _ in form(&random) }.flatMap { $0.split(separator: "&") }
      let one = try OAuth1Signature.sample("https://h/?\(pieces.joined(separator: "&"))")
      let other = try OAuth1Signature.sample("https://h/?\(pieces.shuffled(using: &random).joined(separator: "&"))")
      #expect(one.signature == other.signature)
    }
  }

  @Test func `the signature does not depend on whether a parameter is in the query or the form body`() throws {
    var random = SeededGenerator(seed: 4)
    for _ in 0..<50 {
      let text = form(&random).split(separator: "&").filter { !$0.hasPrefix("%zz") && !$0.hasPrefix("%=") }
        .joined(separator: "&")
      let type: HeaderFields = ["Content-Type": "application/x-www-form-urlencoded"]
      let query = try OAuth1Signature.sample("https://h/?\(text)", method: .post, headers: type, body: "")
      let body = try OAuth1Signature.sample("https://h/", method: .post, headers: type, body: text)
      #expect(query.signature == body.signature)
    }
  }

  @Test func `the header, query and form locations are accepted alike`() throws {
    var random = SeededGenerator(seed: 5)
    for round in 0..<30 {
      let text = form(&random)
      var options = OAuth1Options()
      options.location = [.authorizationHeader, .query, .formBody][round % 3]
      let form = "application/x-www-form-urlencoded"
      let signature = try OAuth1Signature.sample(
        "http://h/p?q=1&\(text)", method: .post, headers: ["Content-Type": form], body: text, options: options)
      var received = OAuth1Verifier.Received(
        method: "POST", target: try target("http://h/p?q=1&\(text)"), fields: [("Host", "h"), ("Content-Type", form)],
        body: Array(text.utf8))
      switch options.location {
      case .authorizationHeader: received.fields.append(("Authorization", signature.authorizationHeader))
      case .query: received.target = try target(#require(signature.signedURL).absoluteString)
      case .formBody: received.body = Array(signature.signedFormBody)
      }
      var verifier = OAuth1Verifier(consumers: ["ck": "cs-canary"], tokens: ["tk": "ts-canary"], now: 1_700_000_000)
      #expect(verifier.verify(received) == .accepted, "\(options.location)")
    }
  }

  @Test func `a change of one octet of the request is refused`() throws {
    let signature = try OAuth1Signature.sample("http://h/p?a=1")
    let received = OAuth1Verifier.Received(
      method: "GET", target: "/p?a=1", fields: [("Host", "h"), ("Authorization", signature.authorizationHeader)])
    for target in ["/p?a=2", "/q?a=1", "/p?a=1&b", "/p/?a=1"] {
      var verifier = OAuth1Verifier(consumers: ["ck": "cs-canary"], tokens: ["tk": "ts-canary"], now: 1_700_000_000)
      var changed = received
      changed.target = target
      #expect(verifier.verify(changed) == .refused("signature_invalid"))
    }
  }

  @Test func `random URLs, hosts and bodies never trap`() {
    var random = SeededGenerator(seed: 6)
    for _ in 0..<200 {
      let text = "http:" + String(decoding: random.octets(upTo: 24).map { 0x21 + $0 % 94 }, as: UTF8.self)
      let headers: HeaderFields = ["Host": String(decoding: random.octets(upTo: 10), as: UTF8.self)]
      guard let url = URL(string: text) else { continue }
      let signature = try? OAuth1Signature(
        method: "M\u{e9}", url: url, headers: Bool.random(using: &random) ? headers : [:],
        body: Data(random.octets(upTo: 30)),
        parameters: OAuth1ProtocolParameters(consumerKey: "", nonce: "", timestamp: 1),
        key: OAuth1SigningKey(method: .hmacSHA256, consumerSecret: ""))
      #expect(signature?.signature.isEmpty != true)
      #expect(signature?.difference(from: String(decoding: random.octets(upTo: 30), as: UTF8.self))?.hint != "")
    }
  }

  /// The request target of a URL, which `URL` may have escaped again.
  private func target(_ url: String) throws -> String {
    let text = try #require(URL(string: url)).absoluteString
    return String(text.drop { $0 != "/" }.dropFirst(2).drop { $0 != "/" })
  }

  /// Random octets as a form has them: some escaped, in either case, and some raw.
  private func form(_ random: inout SeededGenerator) -> String {
    let pieces = ["a", "b%20", "c+d", "%zz", "%", "=", "==", "&&", "%FF", "%c3%a9", "e=%2B", "oauth_x=1", "a=%26", "~"]
    return (0..<Int.random(in: 0...5, using: &random)).map { _ in
      (pieces.randomElement(using: &random) ?? "") + "=" + escaped(random.octets(upTo: 6), &random)
    }.joined(separator: "&")
  }

  private func escaped(_ octets: [UInt8], _ random: inout SeededGenerator) -> String {
    octets.map { octet in
      let isPlain = octet < 0x7f && (octet | 0x20) >= 0x61 && (octet | 0x20) <= 0x7a
      if isPlain, Bool.random(using: &random) { return String(UnicodeScalar(octet)) }
      let digits = String(format: "%02x", Int(octet))
      return "%" + (Bool.random(using: &random) ? digits : digits.uppercased())
    }.joined()
  }
}
