import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1

extension Benchmark {
  /// A benchmark of the cost of a signature beside the hash that is in it.
  static let oauth1 = Benchmark(
    name: "oauth1",
    summary: "OAuth 1.0a signature and header of a form POST with a base string of 446 octets, HMAC-SHA1"
  ) { effort in
    let sample = try OAuth1Sample()
    let count = 2_000
    let works: [Measure.Work] = [
      { for _ in 0..<count { sample.authenticate() } },
      { for _ in 0..<count { sample.authenticateWithNewKey() } },
      { for _ in 0..<count { try sample.sign() } },
    ]
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    let ratio = costs[2].ratio(to: costs[0])
    let rate = 1e9 / costs[2].leastCPUNanoseconds
    return [
      Row(label: "HMAC of the same octets, key set up once", figure: costs[0].typical.cpuDescription),
      Row(label: "HMAC of the same octets, key set up each time", figure: costs[1].typical.cpuDescription),
      Row(
        label: "signature and header", figure: costs[2].typical.cpuDescription, ratio: ratio,
        target: .atMost(5, ratio), former: .atMost(6, ratio)),
      Row(
        label: "signatures", figure: "\(rate.formatted(0)) a second",
        target: .atLeast(100_000, rate, "a second")),
    ]
  }
}

/// The request of X's "Creating a signature", with a nonce that makes its base string 446 octets long.
struct OAuth1Sample: Sendable {
  private let url: URL
  private let headers: HeaderFields = ["Content-Type": "application/x-www-form-urlencoded"]
  private let body = Data("status=Hello%20Ladies%20%2b%20Gentlemen%2c%20a%20signed%20OAuth%20request%21".utf8)
  private let parameters = OAuth1ProtocolParameters(
    consumerKey: "xvz1evFS4wEEPTGEFPHBog", token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
    nonce: "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu", timestamp: 1_318_622_958)
  private let key = OAuth1SigningKey(
    method: .hmacSHA1, consumerSecret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
    tokenSecret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE")
  private let authenticator: MessageAuthenticator
  private let keyOctets: [UInt8]
  private var base: [UInt8] = []

  init() throws {
    guard let url = URL(string: "https://api.twitter.com/1.1/statuses/update.json?include_entities=true") else {
      throw URLError(.badURL)
    }
    self.url = url
    keyOctets = Array(key.text.utf8)
    authenticator = MessageAuthenticator(.sha1, key: keyOctets)
    base = Array(try signature().baseString.utf8)
    guard base.count == 446 else { throw NetworkError(.invalidRequest, "the base string has \(base.count) octets") }
  }

  private func signature() throws -> OAuth1Signature {
    try OAuth1Signature(
      method: .post, url: url, headers: headers, body: body, parameters: parameters, key: key)
  }

  // It is never inlined, so that the optimizer does not drop work whose result it drops.
  @inline(never) func sign() throws { blackHole(try signature().authorizationHeader) }
  @inline(never) func authenticate() { blackHole(authenticator.code(for: base)) }
  @inline(never) func authenticateWithNewKey() {
    blackHole(MessageAuthenticator(.sha1, key: keyOctets).code(for: base))
  }
}
