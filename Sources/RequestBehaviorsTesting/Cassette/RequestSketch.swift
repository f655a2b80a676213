import Foundation
import RequestBehaviors

/// A request as a cassette compares it: redacted, and in a form in which equal requests are equal.
struct RequestSketch: Sendable {
  let method: String
  /// Scheme, host and port, in lower case.
  let origin: String
  let path: String
  /// The decoded items of the query, sorted.
  let query: [Pair]
  let fields: [Pair]
  let body: BodySketch
  /// The request without its secrets, for rules that read it.
  let shown: Shown

  struct Shown: Sendable {
    let url: String
    let body: Data?
    let contentType: String?
  }

  struct Pair: Sendable, Hashable, Comparable {
    let name: String
    let value: String

    static func < (left: Pair, right: Pair) -> Bool {
      (left.name, left.value) < (right.name, right.value)
    }
  }

  enum BodySketch: Sendable {
    case none
    case json(OrderedJSON)
    case form([Pair])
    case parts([String])
    case text(String)
    case bytes(String)
  }

  /// The method and the path, which are equal for requests that match.
  var place: String {
    let pieces = RedactionPlaceholders.pieces(of: path)
    return ([method] + pieces.map { String($0.text) }).joined(separator: "\n")
  }
}
