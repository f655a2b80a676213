import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1

/// A service's side of RFC 5849, written from the RFC alone: it sees the request as it came over the wire and shares
/// nothing with the signer but the hash function.
struct OAuth1Verifier {
  /// A request as it was received.
  struct Received {
    var scheme = "http"
    var method: String
    /// The path and query of the request line.
    var target: String
    var fields: [(name: String, value: String)]
    var body: [UInt8] = []
  }

  enum Verdict: Equatable {
    case accepted
    case refused(String)
  }

  var consumers: [String: String]
  var tokens: [String: String] = [:]
  var now = 0
  var tolerance = 300
  private var seen: Set<String> = []

  init(consumers: [String: String], tokens: [String: String] = [:], now: Int) {
    self.consumers = consumers
    self.tokens = tokens
    self.now = now
  }

  /// The verdict on a request (RFC 5849 §3.2).
  mutating func verify(_ request: Received) -> Verdict {
    let sent = protocolParameters(of: request)
    for name in ["oauth_consumer_key", "oauth_signature_method", "oauth_signature", "oauth_timestamp", "oauth_nonce"] {
      if sent.filter({ $0.name == Array(name.utf8) }).count != 1 { return .refused("parameter_absent") }
    }
    let value = { (name: String) in
      sent.first { $0.name == Array(name.utf8) }.map { String(decoding: $0.value, as: UTF8.self) }
    }
    guard let key = value("oauth_consumer_key"), let secret = consumers[key] else {
      return .refused("consumer_key_unknown")
    }
    let token = value("oauth_token")
    guard let tokenSecret = token == nil ? "" : tokens[token ?? ""] else { return .refused("token_rejected") }
    guard let timestamp = value("oauth_timestamp").flatMap(Int.init), abs(timestamp - now) <= tolerance else {
      return .refused("timestamp_refused")
    }
    guard seen.insert("\(key) \(token ?? "") \(timestamp) \(value("oauth_nonce") ?? "")").inserted else {
      return .refused("nonce_used")
    }
    let signingKey = Array((escape(Array(secret.utf8)) + "&" + escape(Array(tokenSecret.utf8))).utf8)
    let function: HashFunction = value("oauth_signature_method") == "HMAC-SHA256" ? .sha256 : .sha1
    let code = MessageAuthenticator(function, key: signingKey).code(for: Array(baseString(of: request).utf8))
    return Data(code).base64EncodedString() == value("oauth_signature") ? .accepted : .refused("signature_invalid")
  }

  /// RFC 5849 §3.4.1.1.
  func baseString(of request: Received) -> String {
    [request.method.uppercased(), uri(of: request), parameterString(of: request)]
      .map { escape(Array($0.utf8)) }.joined(separator: "&")
  }

  private typealias Pair = (name: [UInt8], value: [UInt8])

  private func uri(of request: Received) -> String {
    var host = (field("host", of: request) ?? "").lowercased()
    let defaultPort = request.scheme == "https" ? ":443" : ":80"
    if host.hasSuffix(defaultPort) { host.removeLast(defaultPort.count) }
    return request.scheme + "://" + host + String(request.target.prefix { $0 != "?" })
  }

  private func parameterString(of request: Received) -> String {
    let all = protocolParameters(of: request) + ownParameters(of: request)
    let escaped = all.filter { $0.name != Array("oauth_signature".utf8) }.map { (escape($0.name), escape($0.value)) }
    let sorted = escaped.sorted { left, right in
      left.0 == right.0
        ? left.1.utf8.lexicographicallyPrecedes(right.1.utf8) : left.0.utf8.lexicographicallyPrecedes(right.0.utf8)
    }
    return sorted.map { $0.0 + "=" + $0.1 }.joined(separator: "&")
  }

  private func ownParameters(of request: Received) -> [Pair] {
    hasProtocolHeader(request) ? bodyAndQuery(of: request) : bodyAndQuery(of: request).filter { !isProtocol($0) }
  }

  private func protocolParameters(of request: Received) -> [Pair] {
    guard let header = field("authorization", of: request), header.lowercased().hasPrefix("oauth ") else {
      return bodyAndQuery(of: request).filter(isProtocol)
    }
    let parts = header.dropFirst(6).components(separatedBy: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    return parts.filter { !$0.hasPrefix("realm=") }.map { part in
      let sides = part.split(separator: "=", maxSplits: 1)
      let value = sides.count > 1 ? sides[1].dropFirst().dropLast() : ""
      return (unescape(Array(sides[0].utf8), plus: false), unescape(Array(value.utf8), plus: false))
    }
  }

  private func hasProtocolHeader(_ request: Received) -> Bool {
    field("authorization", of: request)?.lowercased().hasPrefix("oauth ") ?? false
  }

  private func isProtocol(_ pair: Pair) -> Bool { pair.name.starts(with: "oauth_".utf8) }

  private func bodyAndQuery(of request: Received) -> [Pair] {
    let query = request.target.split(separator: "?", maxSplits: 1).dropFirst().first.map { Array($0.utf8) } ?? []
    let type = (field("content-type", of: request) ?? "").split(separator: ";").first.map(String.init) ?? ""
    let isForm = type.trimmingCharacters(in: .whitespaces).lowercased() == "application/x-www-form-urlencoded"
    return pairs(query) + (isForm ? pairs(request.body) : [])
  }

  private func pairs(_ form: [UInt8]) -> [Pair] {
    form.split(separator: 0x26).map { piece in
      let sides = piece.split(separator: 0x3d, maxSplits: 1, omittingEmptySubsequences: false)
      return (unescape(Array(sides[0]), plus: true), sides.count > 1 ? unescape(Array(sides[1]), plus: true) : [])
    }
  }

  private func field(_ name: String, of request: Received) -> String? {
    request.fields.first { $0.name.lowercased() == name }?.value
  }

  private func escape(_ octets: [UInt8]) -> String {
    octets.map { octet in
      let scalar = UnicodeScalar(octet)
      if OAuth1Verifier.kept.contains(octet) { return String(scalar) }
      let digits = String(octet, radix: 16, uppercase: true)
      return "%" + (octet < 16 ? "0" : "") + digits
    }.joined()
  }

  private static let kept = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

  private func unescape(_ octets: [UInt8], plus: Bool) -> [UInt8] {
    var result: [UInt8] = []
    var rest = octets[...]
    while let octet = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if octet == 0x25, digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let decoded = UInt8(digits, radix: 16)
      {
        result.append(decoded)
        rest = rest.dropFirst(2)
      } else {
        result.append(plus && octet == 0x2b ? 0x20 : octet)
      }
    }
    return result
  }
}
