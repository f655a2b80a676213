import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import Testing

/// Published signatures: RFC 5849 with erratum 2550, OAuth Core 1.0a, X's walk-through, the test cases of oauth.net.
@Suite(.limited) struct OAuth1SignatureVectorTests {
  @Test func `RFC 5849 §3.1 has the signature of erratum 2550`() throws {
    let url = try #require(URL(string: "http://example.com/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b"))
    var options = OAuth1Options()
    options.realm = "Example"
    options.includesVersion = false
    let signature = try OAuth1Signature(
      method: .post, url: url, headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Data("c2&a3=2+q".utf8),
      parameters: OAuth1ProtocolParameters(
        consumerKey: "9djdj82h48djs9d2", token: "kkk9d7dh3k39sjv7", nonce: "7d8f3e4a", timestamp: 137_131_201),
      key: OAuth1SigningKey(method: .hmacSHA1, consumerSecret: "j49sk3j29djd", tokenSecret: "dh893hdasih9"),
      options: options)

    #expect(
      signature.parameterString
        == "a2=r%20b&a3=2%20q&a3=a&b5=%3D%253D&c%40=&c2=&oauth_consumer_key=9djdj82h48djs9d2&oauth_nonce=7d8f3e4a"
        + "&oauth_signature_method=HMAC-SHA1&oauth_timestamp=137131201&oauth_token=kkk9d7dh3k39sjv7")
    #expect(
      signature.baseString
        == "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D"
        + "%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1"
        + "%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7")
    #expect(signature.signature == "r6/TJjbCOr97/+UU0NsvSne7s5g=")
    #expect(
      signature.authorizationHeader
        == "OAuth realm=\"Example\", oauth_consumer_key=\"9djdj82h48djs9d2\", oauth_token=\"kkk9d7dh3k39sjv7\", "
        + "oauth_signature_method=\"HMAC-SHA1\", oauth_timestamp=\"137131201\", oauth_nonce=\"7d8f3e4a\", "
        + "oauth_signature=\"r6%2FTJjbCOr97%2F%2BUU0NsvSne7s5g%3D\"")
  }

  @Test func `RFC 5849 §1.2 has the printed signatures of all three requests`() throws {
    var options = OAuth1Options()
    options.includesVersion = false
    func signature(
      _ method: RequestMethod, _ url: String, token: String? = nil, secret: String = "", nonce: String, timestamp: Int,
      additional: [(name: String, value: String)] = []
    ) throws -> String {
      var parameters = OAuth1ProtocolParameters(
        consumerKey: "dpf43f3p2l4k3l03", token: token, nonce: nonce, timestamp: timestamp)
      parameters.additional = additional
      return try OAuth1Signature(
        method: method, url: #require(URL(string: url)), parameters: parameters,
        key: OAuth1SigningKey(method: .hmacSHA1, consumerSecret: "kd94hf93k423kf44", tokenSecret: secret),
        options: options
      ).signature
    }
    #expect(
      try signature(
        .post, "https://photos.example.net/initiate", nonce: "wIjqoS", timestamp: 137_131_200,
        additional: [("oauth_callback", "http://printer.example.com/ready")]) == "74KNZJeDHnMBp0EMJ9ZHt/XKycU=")
    #expect(
      try signature(
        .post, "https://photos.example.net/token", token: "hh5s93j4hdidpola", secret: "hdhd0244k9j7ao03",
        nonce: "walatlh", timestamp: 137_131_201, additional: [("oauth_verifier", "hfdp7dh39dks9884")])
        == "gKgrFCywp7rO0OXSjdot/IHF7IU=")
    #expect(
      try signature(
        .get, "http://photos.example.net/photos?file=vacation.jpg&size=original", token: "nnch734d00sl2jdk",
        secret: "pfkkdhi9sl3r4s00", nonce: "chapoH", timestamp: 137_131_202) == "MdpQcU8iPSUjWoN/UDMsK2sui9I=")
  }

  @Test func `OAuth Core 1·0a, appendix A·5, has the printed signature`() throws {
    let signature = try OAuth1Signature(
      method: .get,
      url: #require(URL(string: "http://photos.example.net/photos?file=vacation.jpg&size=original")),
      parameters: OAuth1ProtocolParameters(
        consumerKey: "dpf43f3p2l4k3l03", token: "nnch734d00sl2jdk", nonce: "kllo9940pd9333jh", timestamp: 1_191_242_096),
      key: OAuth1SigningKey(
        method: .hmacSHA1, consumerSecret: "kd94hf93k423kf44", tokenSecret: "pfkkdhi9sl3r4s00"))
    #expect(
      signature.baseString
        == "GET&http%3A%2F%2Fphotos.example.net%2Fphotos&file%3Dvacation.jpg%26oauth_consumer_key%3Ddpf43f3p2l4k3l03"
        + "%26oauth_nonce%3Dkllo9940pd9333jh%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1191242096"
        + "%26oauth_token%3Dnnch734d00sl2jdk%26oauth_version%3D1.0%26size%3Doriginal")
    #expect(signature.signingKey == "kd94hf93k423kf44&pfkkdhi9sl3r4s00")
    #expect(signature.signature == "tR3+Ty81lMeYAr/Fid0kMTYa/WM=")
  }

  @Test func `X's walk-through has the printed key, base string and signature`() throws {
    let signature = try OAuth1Signature.walkThrough()
    #expect(
      signature.signingKey
        == "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw&LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE")
    #expect(
      signature.baseString
        == "POST&https%3A%2F%2Fapi.twitter.com%2F1.1%2Fstatuses%2Fupdate.json&include_entities%3Dtrue"
        + "%26oauth_consumer_key%3Dxvz1evFS4wEEPTGEFPHBog%26oauth_nonce%3DkYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg"
        + "%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1318622958"
        + "%26oauth_token%3D370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb%26oauth_version%3D1.0"
        + "%26status%3DHello%2520Ladies%2520%252B%2520Gentlemen%252C%2520a%2520signed%2520OAuth%2520request%2521")
    #expect(signature.signature == "hCtSmYh+iHYCEqBWrE7C7hYmtUk=")
  }

  /// The base string of these two is `bs`, which no request has.
  @Test(arguments: [("", "egQqG5AJep5sJ7anhXju1unge2I="), ("ts", "VZVjXceV7JgPq/dOTnNmEfO0Fv8=")])
  func `the keys of oauth·net's test cases produce the published signatures`(tokenSecret: String, signature: String) {
    let key = OAuth1SigningKey(method: .hmacSHA1, consumerSecret: "cs", tokenSecret: tokenSecret)
    let code = MessageAuthenticator(.sha1, key: Array(key.text.utf8)).code(for: Array("bs".utf8))
    #expect(Data(code).base64EncodedString() == signature)
  }

  @Test(arguments: [
    ("abcABC123", "abcABC123"), ("-._~", "-._~"), ("%", "%25"), ("+", "%2B"), ("&=*", "%26%3D%2A"),
    ("\u{a}", "%0A"), (" ", "%20"), ("\u{7f}", "%7F"), ("\u{80}", "%C2%80"), ("\u{3001}", "%E3%80%81"),
  ])
  func `values are encoded as in oauth·net's table`(text: String, escaped: String) {
    #expect(OAuth1EncodedPair("", text).encoded == "=" + escaped)
  }

  @Test(arguments: [
    ("name", "name="), ("a=b", "a=b"), ("a=b&c=d", "a=b&c=d"), ("a=x!y&a=x+y", "a=x%20y&a=x%21y"),
    ("x!y=a&x=a", "x=a&x%21y=a"),
    ("a=1&c=hi%20there&f=25&f=50&f=a&z=p&z=t", "a=1&c=hi%20there&f=25&f=50&f=a&z=p&z=t"),
  ])
  func `parameters are normalized as in oauth·net's table`(query: String, normalized: String) throws {
    let signature = try OAuth1Signature.sample("http://example.com/?\(query)")
    let string = signature.parameterString.split(separator: "&").filter { !$0.hasPrefix("oauth_") }
    #expect(string.joined(separator: "&") == normalized)
  }

  @Test func `the RSA method signs the base string of oauth·net's example`() throws {
    let expected =
      "GET&http%3A%2F%2Fphotos.example.net%2Fphotos&file%3Dvacaction.jpg%26oauth_consumer_key%3Ddpf43f3p2l4k3l03"
      + "%26oauth_nonce%3D13917289812797014437%26oauth_signature_method%3DRSA-SHA1%26oauth_timestamp%3D1196666512"
      + "%26oauth_version%3D1.0%26size%3Doriginal"
    let method = OAuth1SignatureMethod.rsaSHA1 { $0 == Data(expected.utf8) ? Data([0xff, 0xfe, 0xfd, 0xfc]) : Data() }
    let signature = try OAuth1Signature(
      method: .get, url: #require(URL(string: "http://photos.example.net/photos?file=vacaction.jpg&size=original")),
      parameters: OAuth1ProtocolParameters(
        consumerKey: "dpf43f3p2l4k3l03", nonce: "13917289812797014437", timestamp: 1_196_666_512),
      key: OAuth1SigningKey(method: method, consumerSecret: "unused"))
    #expect(signature.baseString == expected)
    #expect(signature.signature == "//79/A==")
  }
}
