public import Foundation

/// The path of a request: a string literal in which each interpolation is one escaped segment.
///
/// ```swift
/// let login = "a/b?c"
/// let path: RequestPath = "users/\(login)/repos"
/// print(path.template)  // users/{}/repos
/// // Sent to users/a%2Fb%3Fc/repos.
/// try await client.send(.get(path))
/// ```
///
/// An interpolated value cannot change the structure of the path: every octet that is not unreserved is
/// percent-encoded. A value that would be empty, `.` or `..` as a whole segment fails when the request is sent. The
/// literal text is under the developer's control. It may have slashes, a query after `?`, and escapes. Literal text
/// that begins with `https://` is a full URL and replaces the base URL.
///
/// For text made at run time use ``init(encoded:)``; for links in a response use `.get(url:)`.
public struct RequestPath: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// The percent-encoded path that is appended to the base URL.
  public let encoded: String

  /// The path with `{}` for each interpolation, which names the endpoint in logs, metrics and mocks.
  public let template: String

  /// Whether the literal text began with a scheme, so that the path is a full URL.
  let isAbsolute: Bool

  /// The error text for an invalid value; it is thrown when the request is sent.
  let problem: String?

  /// Creates a path from a literal.
  public init(stringLiteral value: String) {
    self.init(text: value, template: value, problem: nil, isAbsolute: RequestPath.hasScheme(value))
  }

  /// Creates a path from a literal with interpolations.
  public init(stringInterpolation: StringInterpolation) {
    let text = stringInterpolation.text
    self.init(
      text: text, template: stringInterpolation.template, problem: stringInterpolation.problem(),
      isAbsolute: RequestPath.hasScheme(stringInterpolation.template))
  }

  /// Creates a path from percent-encoded text made at run time.
  ///
  /// The text is always a path below the base URL, even if it looks like a full URL. A character that a path must not
  /// contain is an error when the request is sent.
  ///
  /// - Parameter text: A path, with or without a leading `/`, and optionally a query after `?`.
  public init(encoded text: String) {
    let isLegal = text.utf8.allSatisfy { PercentEncoding.isQueryCharacter($0) || $0 == UInt8(ascii: "%") }
    var problem: String?
    if !isLegal {
      let shown = Redactor.standard.redact(urlReference: text)
      problem = "the path \"\(shown)\" has characters that must be percent-encoded"
    }
    self.init(text: text, template: text, problem: problem, isAbsolute: false)
  }

  init(text: String, template: String, problem: String?, isAbsolute: Bool) {
    self.encoded = text
    let isPlain = template.hasOnlyBytes { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    self.template = isPlain ? template : String(template.prefix { $0 != "?" && $0 != "#" })
    self.problem = problem
    self.isAbsolute = isAbsolute
  }

  /// Returns the path without the query items of a name.
  func removing(queryItem name: String) -> RequestPath {
    guard let mark = encoded.firstIndex(of: "?") else { return self }
    let end = encoded[mark...].firstIndex(of: "#") ?? encoded.endIndex
    let query = Query.removing(name, from: String(encoded[encoded.index(after: mark)..<end]))
    let text = encoded[..<mark] + (query.map { "?" + $0 } ?? "") + encoded[end...]
    return RequestPath(text: String(text), template: template, problem: problem, isAbsolute: isAbsolute)
  }

  /// Returns whether the text begins like a full URL: a letter, further scheme characters, `://` (RFC 3986 §3.1).
  private static func hasScheme(_ text: String) -> Bool {
    if text.hasOnlyBytes({ $0 != UInt8(ascii: ":") }) { return false }
    let bytes = text.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return false
    }
    guard let first = bytes.first, isLetter(first) else { return false }
    return bytes[..<colon].allSatisfy { isLetter($0) || "0123456789+.-".utf8.contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }

  /// Collects the literal text and the escaped segments of a ``RequestPath``.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate private(set) var text = ""
    fileprivate private(set) var template = ""
    // The ranges of the interpolated values in `text`, as UTF-8 offsets. Most paths have one.
    private var insertions = ShortList<Range<Int>>()

    /// Creates an empty interpolation.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 8)
    }

    /// Appends literal text.
    public mutating func appendLiteral(_ literal: String) {
      text += literal
      template += literal
    }

    /// Appends a value as one escaped segment, or as a part of one.
    public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
      insert(PercentEncoding.escape(value.description))
    }

    /// Appends a UUID in its standard form.
    public mutating func appendInterpolation(_ value: UUID) { insert(value.uuidString) }

    /// Appends an enumeration case by its raw value.
    public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
    where Value.RawValue: LosslessStringConvertible {
      insert(PercentEncoding.escape(value.rawValue.description))
    }

    /// Appends several escaped segments with `/` between them; without a segment the request fails, as it does for an
    /// empty value.
    public mutating func appendInterpolation(segments: [String]) {
      // The path would be that of the parent.
      if segments.isEmpty { insert("") }
      for (index, segment) in segments.enumerated() {
        if index > 0 { text += "/" }
        insert(PercentEncoding.escape(segment), template: index == 0 ? "{}" : "")
      }
    }

    private mutating func insert(_ escaped: String, template placeholder: String = "{}") {
      let start = text.utf8.count
      text += escaped
      insertions.append(start..<text.utf8.count)
      template += placeholder
    }

    fileprivate func problem() -> String? {
      guard !insertions.isEmpty else { return nil }
      // Values are checked in the complete text, because literal text and several values together can make one segment.
      var text = text
      guard let segment = text.withUTF8({ wrongSegment(in: $0) }) else { return nil }
      let shown = Redactor.standard.redact(urlReference: template)
      return "the path \"\(shown)\" got \"\(segment)\" as a whole segment, which would change the path"
    }

    /// Returns the first segment with a value that is empty, `.` or `..` as a whole.
    private func wrongSegment(in bytes: UnsafeBufferPointer<UInt8>) -> String? {
      let slash = UInt8(ascii: "/")
      let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
      for insertion in insertions where insertion.lowerBound <= end {
        let start = bytes[..<insertion.lowerBound].lastIndex(of: slash).map { $0 + 1 } ?? 0
        let stop = bytes[insertion.upperBound...].firstIndex { $0 == slash || $0 == UInt8(ascii: "?") } ?? bytes.count
        let segment = bytes[start..<stop]
        if segment.count <= 2, segment.allSatisfy({ $0 == UInt8(ascii: ".") }) {
          return String(decoding: segment, as: UTF8.self)
        }
      }
      return nil
    }
  }
}
