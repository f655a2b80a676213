import Foundation
public import RequestBehaviors

/// The parts of a request that must be as recorded for an entry of a cassette to match.
///
/// By default these are method, URL and body. Order does not count among query items, members of JSON objects and
/// fields of forms, nor the boundary of multipart bodies. Parameters of OAuth 1.0a (`oauth_…`) are left out. Secrets on
/// both sides are hidden before they are compared, so a test needs no credentials.
public struct CassetteMatching: Sendable {
  var ignoresOrigin = false
  var repeatsLast = false
  var ignoredQueryNames: Set<String> = []
  var ignoredPointers: Set<String> = []
  var comparedFields: [String] = []
  /// Compares what the user takes from two bodies; `nil` if that is not possible for one of them.
  var bodyDifference: (@Sendable (_ now: NetworkRequest, _ recorded: NetworkRequest) -> BodyVerdict?)?

  /// Whether two bodies are the same to the user.
  enum BodyVerdict: Sendable {
    case same
    case different(String)
  }

  /// Method, URL and body.
  public static let standard = CassetteMatching()

  /// Returns rules that do not compare scheme, host and port, as for a server on another port each time.
  public func ignoringOrigin() -> CassetteMatching { changed { $0.ignoresOrigin = true } }

  /// Returns rules that do not compare query items of some names.
  public func ignoringQuery(_ names: String...) -> CassetteMatching {
    changed { $0.ignoredQueryNames.formUnion(names) }
  }

  /// Returns rules that do not compare some places in JSON bodies.
  ///
  /// - Parameter pointers: JSON pointers (RFC 6901) such as `/sentAt`; `*` matches any member or element.
  /// - Returns: The rules.
  public func ignoringBody(at pointers: String...) -> CassetteMatching {
    changed { $0.ignoredPointers.formUnion(pointers) }
  }

  /// Returns rules that also compare the values of header fields that are not secret.
  public func comparing(_ names: String...) -> CassetteMatching {
    changed { $0.comparedFields += names }
  }

  /// Returns rules that compare one value of each body, and nothing else of it.
  ///
  /// ```swift
  /// let matching = CassetteMatching.standard
  ///   .body { try $0.json(GraphQuery.self).operation }
  /// ```
  ///
  /// Bodies from which the closure cannot take a value are compared as usual.
  ///
  /// - Parameter value: Returns the value. It gets the request with its secrets hidden, once for the request that is
  ///   sent and once for each recorded one.
  /// - Returns: The rules.
  public func body<Value: Equatable & Sendable>(
    _ value: @escaping @Sendable (NetworkRequest) throws -> Value
  ) -> CassetteMatching {
    changed { rules in
      rules.bodyDifference = { now, recorded in
        guard let now = try? value(now), let recorded = try? value(recorded) else { return nil }
        return now == recorded ? .same : .different("body: \(now) now, \(recorded) recorded")
      }
    }
  }

  /// Returns rules by which the last entry of a request is played again and again, for a client that polls.
  public func repeatingLast() -> CassetteMatching { changed { $0.repeatsLast = true } }

  private func changed(_ change: (inout CassetteMatching) -> Void) -> CassetteMatching {
    var copy = self
    change(&copy)
    return copy
  }
}

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

  /// The first difference to a recorded request; `nil` if they match.
  func difference(to recorded: RequestSketch, _ rules: CassetteMatching) -> String? {
    differences(to: recorded, rules).first
  }

  /// The differences to a recorded request, in words.
  func differences(to recorded: RequestSketch, _ rules: CassetteMatching) -> [String] {
    var found: [String] = []
    if method != recorded.method {
      found.append("method: \(method) now, \(recorded.method) recorded")
    }
    if !rules.ignoresOrigin, origin != recorded.origin {
      found.append("origin: \(origin) now, \(recorded.origin) recorded")
    }
    if !Self.isSame(path, recorded.path) { found.append("path: \(path) now, \(recorded.path) recorded") }
    found += Self.differences(
      "query", query.filter { !rules.ignoredQueryNames.contains($0.name) },
      recorded.query.filter { !rules.ignoredQueryNames.contains($0.name) })
    for name in rules.comparedFields {
      func values(_ fields: [Pair]) -> [Pair] {
        fields.filter { HeaderFields.areEqual($0.name, name) }
      }
      found += Self.differences("field", values(fields), values(recorded.fields))
    }
    switch rules.bodyDifference?(request, recorded.request) {
    case .same: return found
    case .different(let text): return found + [text]
    case nil: return found + body.differences(to: recorded.body, rules)
    }
  }

  /// The request as a rule of the user reads it.
  private var request: NetworkRequest {
    let fields = HeaderFields(fields.map { HeaderFields.Field($0.name, $0.value) })
    var request = NetworkRequest(
      RequestMethod(rawValue: method), url: URL(string: shown.url) ?? URL(filePath: "/"), headers: fields)
    request.body = shown.body.map { .data($0, contentType: shown.contentType) }
    return request
  }

  /// Compares two sorted lists.
  fileprivate static func differences(_ what: String, _ now: [Pair], _ recorded: [Pair]) -> [String] {
    var rest = recorded
    var found: [String] = []
    for pair in now {
      if let index = rest.firstIndex(where: { $0.name == pair.name && isSame(pair.value, $0.value) }
      ) {
        rest.remove(at: index)
      } else if let index = rest.firstIndex(where: { $0.name == pair.name }) {
        found.append(
          "\(what), \(pair.name): \(quoted(pair.value)) now, \(quoted(rest[index].value)) recorded")
        rest.remove(at: index)
      } else {
        found.append("\(what), \(pair.name): \(quoted(pair.value)) now, missing in the recording")
      }
    }
    return found + rest.map { "\(what), \($0.name): missing now, \(quoted($0.value)) recorded" }
  }

  /// Whether a text is the recorded one; a secret without a number matches every placeholder.
  static func isSame(_ now: String, _ recorded: String) -> Bool {
    if now == recorded { return true }
    guard now.contains(Redactor.placeholder), recorded.contains(Redactor.placeholder) else { return false }
    let (pieces, others) = (Self.pieces(now), Self.pieces(recorded))
    return pieces.count == others.count
      && zip(pieces, others).allSatisfy { piece, other in
        piece.text == other.text && (piece.number == other.number || piece.number.isEmpty || other.number.isEmpty)
      }
  }

  /// Returns the text after each placeholder, with the number of the placeholder; the first has none before it.
  private static func pieces(_ text: String) -> [(number: Substring, text: Substring)] {
    text.split(separator: Redactor.placeholder, omittingEmptySubsequences: false).enumerated().map { index, piece in
      guard index > 0, piece.first == "-" else { return ("", piece) }
      let number = piece.dropFirst().prefix { $0.isASCII && $0.isNumber }
      return number.isEmpty ? ("", piece) : (number, piece[number.endIndex...])
    }
  }

  fileprivate static func quoted(_ value: String) -> String {
    let text = value.count > 80 ? value.prefix(80) + "…" : value[...]
    return OrderedJSON.string(String(text)).line
  }
}

extension RequestSketch.BodySketch {
  fileprivate func differences(to recorded: Self, _ rules: CassetteMatching) -> [String] {
    switch (self, recorded) {
    case (.none, .none): return []
    case (.json(let now), .json(let then)):
      var found: [String] = []
      Self.compare(now, then, at: "", rules, &found)
      return found
    case (.form(let now), .form(let then)): return RequestSketch.differences("body", now, then)
    case (.parts(let now), .parts(let then)):
      guard now.count == then.count else {
        return ["body: \(now.count) parts now, \(then.count) recorded"]
      }
      return zip(now, then).enumerated().filter { $1.0 != $1.1 }.map {
        "body: part \($0.offset + 1) differs"
      }
    case (.text(let now), .text(let then)):
      if now == then { return [] }
      return ["body: \(RequestSketch.quoted(now)) now, \(RequestSketch.quoted(then)) recorded"]
    case (.bytes(let now), .bytes(let then)):
      return now == then
        ? [] : ["body: bytes of SHA-256 \(now.prefix(16)) now, \(then.prefix(16)) recorded"]
    default: return ["body: \(name) now, \(recorded.name) recorded"]
    }
  }

  private var name: String {
    switch self {
    case .none: "none"
    case .json: "JSON"
    case .form: "a form"
    case .parts: "multipart"
    case .text: "text"
    case .bytes: "bytes"
    }
  }

  private static func compare(
    _ now: OrderedJSON?, _ then: OrderedJSON?, at place: String, _ rules: CassetteMatching,
    _ found: inout [String]
  ) {
    if now == then || rules.ignores(place) { return }
    switch (now, then) {
    case (.object(let members), .object(let others)):
      var names = members.map(\.name)
      names += others.map(\.name).filter { !names.contains($0) }
      for name in names {
        let token = name.replacing("~", with: "~0").replacing("/", with: "~1")
        compare(
          members.first { $0.name == name }?.value, others.first { $0.name == name }?.value,
          at: "\(place)/\(token)",
          rules, &found)
      }
    case (.array(let elements), .array(let others)):
      for index in 0..<max(elements.count, others.count) {
        compare(
          index < elements.count ? elements[index] : nil,
          index < others.count ? others[index] : nil,
          at: "\(place)/\(index)", rules, &found)
      }
    case (.string(let text), .string(let other)) where RequestSketch.isSame(text, other): return
    case (.number(let text), .number(let other)) where Double(text) == Double(other): return
    default:
      found.append(
        "body, \(place.isEmpty ? "/" : place): \(shown(now)) now, \(shown(then)) recorded")
    }
  }

  private static func shown(_ value: OrderedJSON?) -> String {
    guard let line = value?.line else { return "missing" }
    return line.count > 80 ? line.prefix(80) + "…" : line
  }
}

extension CassetteMatching {
  fileprivate func ignores(_ place: String) -> Bool {
    guard !ignoredPointers.isEmpty else { return false }
    let tokens = place.split(separator: "/", omittingEmptySubsequences: false)
    return ignoredPointers.contains { pointer in
      let wanted = pointer.split(separator: "/", omittingEmptySubsequences: false)
      return wanted.count == tokens.count
        && zip(wanted, tokens).allSatisfy { $0 == $1 || $0 == "*" }
    }
  }
}
