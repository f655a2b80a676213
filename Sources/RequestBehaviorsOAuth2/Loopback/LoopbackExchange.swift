import Foundation
import RequestBehaviors

/// Reads a request to the redirect URI of this machine, and decides on its response.
enum LoopbackExchange {
  /// The largest head of a request.
  static let limit = 16 * 1_024

  /// The head of a request.
  struct Head: Sendable, Hashable {
    let method: String
    let target: String
    let hosts: [String]
  }

  /// The result of reading the octets that have come so far.
  enum Reading: Sendable, Hashable {
    case incomplete
    case invalid
    case head(Head)
  }

  /// A response, and the callback that it belongs to; all other requests change nothing.
  ///
  /// The status is 200 for a callback that a sign-in waits for, and 202 for one that came too early.
  struct Decision: Sendable, Hashable {
    let status: Int
    var callback: URL?
    var state: String?
    /// Whether the callback brings an error in place of a code.
    var isRefusal = false
  }

  /// Reads a head (RFC 9112 §3).
  static func read(_ octets: [UInt8]) -> Reading {
    guard let end = end(of: octets) else { return octets.count > limit ? .invalid : .incomplete }
    guard end <= limit, let text = String(validating: octets[..<end], as: UTF8.self) else { return .invalid }
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/"),
      words[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
    else { return .invalid }
    var hosts: [String] = []
    for line in lines.dropFirst() where !line.isEmpty {
      guard let colon = line.firstIndex(of: ":") else { return .invalid }
      guard line[..<colon].lowercased() == "host" else { continue }
      hosts.append(line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines))
    }
    return .head(Head(method: String(words[0]), target: String(words[1]), hosts: hosts))
  }

  /// The end of the head: the place of the empty line.
  private static func end(of octets: [UInt8]) -> Int? {
    let (cr, lf) = (UInt8(ascii: "\r"), UInt8(ascii: "\n"))
    for index in octets.indices where octets[index] == lf {
      let rest = octets[(index + 1)...]
      if rest.first == lf || rest.starts(with: [cr, lf]) { return index }
    }
    return nil
  }

  /// Decides on the response to a request.
  ///
  /// - Parameters:
  ///   - head: The head of the request.
  ///   - url: The redirect URI.
  ///   - states: The states of the sign-ins that wait or have ended.
  /// - Returns: The response: 200 or 202 and the callback for the right request, else 400, 404 or 405.
  static func decide(_ head: Head, at url: URL, states: [String]) -> Decision {
    let origin = url.absoluteString.prefix(url.absoluteString.count - url.path(percentEncoded: true).count)
    // Another name for this machine's address may be an attacker's (DNS rebinding).
    // A browser leaves the default port out (RFC 9110 §4.2.1).
    let host = origin.dropFirst("http://".count)
    let names = url.port == 80 ? [String(host), url.host(percentEncoded: true) ?? ""] : [String(host)]
    guard head.hosts.count == 1, names.contains(head.hosts[0]) else { return Decision(status: 400) }
    let path = head.target.prefix { $0 != "?" }
    guard path == url.path(percentEncoded: true) else { return Decision(status: 404) }
    guard head.method == "GET" else { return Decision(status: 405) }
    let pairs = FormPairs(head.target.dropFirst(path.count + 1))
    let found = pairs.values("state")
    guard found.count == 1, let state = found[0], !state.isEmpty else { return Decision(status: 400) }
    let callback = URL(string: origin + head.target)
    let isRefusal = !pairs.values("error").isEmpty
    if states.contains(where: { areEqualInConstantTime($0, state) }) {
      return Decision(status: 200, callback: callback, state: state, isRefusal: isRefusal)
    }
    // A browser that the server knows comes back at once, perhaps before the program waits for it.
    guard (pairs.values("code") + pairs.values("error")).count == 1 else { return Decision(status: 400) }
    return Decision(status: 202, callback: callback, state: state, isRefusal: isRefusal)
  }

  /// Returns the octets of a response.
  ///
  /// - Parameters:
  ///   - decision: The decision.
  ///   - page: The page of a callback with a code; a refused user must not be shown that.
  /// - Returns: Head and body.
  static func response(_ decision: Decision, page: String) -> [UInt8] {
    let reasons = [200: "OK", 202: "Accepted", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"]
    let status = decision.status
    let body =
      switch status {
      case 200 where decision.isRefusal: "The server refused the sign-in. You can close this page.\n"
      case 200: page
      case 202: "The program takes this sign-in when it asks for it. You can close this page.\n"
      default: "\(status) \(reasons[status] ?? "")\n"
      }
    let type = status == 200 && body.contains("<") ? "text/html" : "text/plain"
    let fields = [
      "HTTP/1.1 \(status) \(reasons[status] ?? "Bad Request")", "Content-Type: \(type); charset=utf-8",
      "Content-Length: \(body.utf8.count)", "Cache-Control: no-store", "Referrer-Policy: no-referrer",
      "Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff", "Connection: close",
    ]
    let head = (fields + (status == 405 ? ["Allow: GET"] : [])).joined(separator: "\r\n")
    return Array("\(head)\r\n\r\n\(body)".utf8)
  }
}
