import Foundation
import RequestBehaviors

/// A path below a base URL, or a full URL, with `*` for one segment and `**` for any number.
struct MockPath: Sendable {
  private enum Segment: Sendable, Equatable {
    case literal(String)
    case one
    case rest
  }

  /// The path as it was given.
  let text: String
  /// The items after the `?`.
  let query: [Query.Item]
  private let origin: Origin?
  private let segments: [Segment]

  init(_ text: String, baseURL: URL) {
    self.text = text
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    query = parts.count > 1 ? Query(percentEncoded: String(parts[1])).items : []
    if let scheme = parts[0].range(of: "://") {
      let end = parts[0][scheme.upperBound...].firstIndex(of: "/") ?? parts[0].endIndex
      origin = Origin(String(parts[0][..<end]))
      segments = MockPath.parse(parts[0][end...])
    } else {
      origin = Origin(baseURL)
      segments = MockPath.parse(below: baseURL.path(percentEncoded: true), parts[0])
    }
  }

  private static func parse(below base: String, _ path: Substring) -> [Segment] {
    guard !path.isEmpty else { return MockPath.segments(of: base).map { .literal($0) } }
    let directory = base.hasSuffix("/") ? String(base.dropLast()) : base
    let above = directory.isEmpty ? [] : MockPath.segments(of: directory).map { Segment.literal($0) }
    return above + parse(path)
  }

  private static func parse(_ path: Substring) -> [Segment] {
    let relative = path.hasPrefix("/") ? path.dropFirst() : path
    return relative.split(separator: "/", omittingEmptySubsequences: false).map { segment in
      switch segment {
      case "*": .one
      case "**": .rest
      default: .literal(segment.removingPercentEncoding ?? String(segment))
      }
    }
  }

  /// The segments of a URL's path without their percent-encoding; an empty path is the root.
  private static func segments(of path: String) -> [String] {
    let relative = path.hasPrefix("/") ? path.dropFirst() : path[...]
    return relative.split(separator: "/", omittingEmptySubsequences: false).map {
      $0.removingPercentEncoding ?? String($0)
    }
  }

  /// Returns why the request goes to another place; `nil` if it does not.
  func mismatch(with request: NetworkRequest) -> String? {
    guard let origin else { return "its URL, or the mock transport's base URL, is not absolute" }
    if let other = request.origin, other != origin { return "the origin is \(other), not \(origin)" }
    let path = request.url.path(percentEncoded: true)
    if MockPath.matches(segments[...], MockPath.segments(of: path)[...]) { return nil }
    return "the path is \(path)"
  }

  private static func matches(_ pattern: ArraySlice<Segment>, _ path: ArraySlice<String>) -> Bool {
    guard let first = pattern.first else { return path.isEmpty }
    if first == .rest {
      return (path.startIndex...path.endIndex).contains { matches(pattern.dropFirst(), path[$0...]) }
    }
    guard let segment = path.first else { return false }
    switch first {
    case .literal(let text) where text != segment: return false
    case .one where segment.isEmpty: return false
    default: return matches(pattern.dropFirst(), path.dropFirst())
    }
  }
}

extension Query {
  /// Creates a query from its percent-encoded form.
  init(percentEncoded text: String, plusIsSpace: Bool = false) {
    self.init(
      text.split(separator: "&").map { pair in
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.map { part in
          let part = plusIsSpace ? part.replacing("+", with: " ")[...] : part
          return part.removingPercentEncoding ?? String(part)
        }
        return Item(texts[0], texts.count > 1 ? texts[1] : "")
      })
  }
}
