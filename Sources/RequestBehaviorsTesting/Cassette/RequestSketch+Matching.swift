import Foundation
import RequestBehaviors

/// Decides whether a request is a recorded one.
extension RequestSketch {
  /// Whether this is the recorded request.
  ///
  /// - Parameters:
  ///   - recorded: The recorded request.
  ///   - rules: The rules of the user.
  ///   - allowsHidden: Whether a placeholder in the recording matches any text. What a request sends before a later
  ///     one shows it to be a credential is hidden in the file, and is not known to be one when it is sent again.
  /// - Returns: Whether it is.
  func matches(_ recorded: RequestSketch, _ rules: CassetteMatching, allowsHidden: Bool = false) -> Bool {
    var found = Differences(hasWords: false, allowsHidden: allowsHidden)
    compare(to: recorded, rules, &found)
    return found.isEmpty
  }

  /// The differences to a recorded request, in words.
  func differences(to recorded: RequestSketch, _ rules: CassetteMatching) -> [String] {
    var found = Differences(hasWords: true)
    compare(to: recorded, rules, &found)
    return found.words
  }

  private func compare(to recorded: RequestSketch, _ rules: CassetteMatching, _ found: inout Differences) {
    if method != recorded.method { found.add("method: \(method) now, \(recorded.method) recorded") }
    if !rules.ignoresOrigin, origin != recorded.origin {
      found.add("origin: \(origin) now, \(recorded.origin) recorded")
    }
    if !found.isSame(path, recorded.path) { found.add("path: \(path) now, \(recorded.path) recorded") }
    if found.isDone { return }
    Self.compare(
      "query", query.filter { !rules.ignoredQueryNames.contains($0.name) },
      recorded.query.filter { !rules.ignoredQueryNames.contains($0.name) }, &found)
    // The credentials among the fields are known by their names, so a hidden value is no other text.
    let allowsHidden = found.allowsHidden
    found.allowsHidden = false
    for name in rules.comparedFields {
      func values(_ fields: [Pair]) -> [Pair] {
        fields.filter { HeaderFields.areEqual($0.name, name) }
      }
      Self.compare("field", values(fields), values(recorded.fields), &found)
    }
    found.allowsHidden = allowsHidden
    if found.isDone { return }
    switch rules.bodyDifference?(request, recorded.request) {
    case .same: return
    case .different(let text): found.add(text)
    case nil: body.compare(to: recorded.body, rules, &found)
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
  fileprivate static func compare(_ what: String, _ now: [Pair], _ recorded: [Pair], _ found: inout Differences) {
    if now == recorded { return }
    var rest = recorded
    for pair in now where !found.isDone {
      if let index = rest.firstIndex(where: { isSame(pair, $0, found) }) {
        rest.remove(at: index)
      } else if let index = rest.firstIndex(where: { $0.name == pair.name }) {
        found.add("\(what), \(pair.name): \(quoted(pair.value)) now, \(quoted(rest[index].value)) recorded")
        rest.remove(at: index)
      } else {
        found.add("\(what), \(pair.name): \(quoted(pair.value)) now, missing in the recording")
      }
    }
    for pair in rest { found.add("\(what), \(pair.name): missing now, \(quoted(pair.value)) recorded") }
  }

  /// Whether an item is the recorded one; a recorded value that is hidden matches any value that is shown now.
  private static func isSame(_ now: Pair, _ recorded: Pair, _ found: Differences) -> Bool {
    // A name may contain the secret of a test, as `client_secret` contains "secret".
    guard isSame(now.name, recorded.name) else { return false }
    let isHidden =
      PlayableRedaction.isAmbiguous(query: now.name) && RedactionPlaceholders.isPlaceholder(recorded.value)
      && !RedactionPlaceholders.isPlaceholder(now.value)
    return isHidden || found.isSame(now.value, recorded.value)
  }

  /// Whether a text is the recorded one; a secret without a number matches every placeholder.
  static func isSame(_ now: String, _ recorded: String) -> Bool {
    if now == recorded { return true }
    let (pieces, others) = (RedactionPlaceholders.pieces(of: now), RedactionPlaceholders.pieces(of: recorded))
    return pieces.count == others.count
      && zip(pieces, others).allSatisfy { piece, other in
        piece.text == other.text && (piece.number == other.number || piece.number == nil || other.number == nil)
      }
  }

  /// Whether a text is the recorded one, in which a placeholder matches any text.
  fileprivate static func isHidden(_ now: String, _ recorded: String) -> Bool {
    let pieces = RedactionPlaceholders.pieces(of: recorded)
    // A value that the cassette gave is compared by its number.
    guard pieces.count > 1, RedactionPlaceholders.pieces(of: now).allSatisfy({ $0.number == nil }),
      now.hasPrefix(pieces[0].text)
    else { return false }
    var rest = now.dropFirst(pieces[0].text.count)
    for piece in pieces.dropFirst().dropLast() where !piece.text.isEmpty {
      guard let place = rest.dropFirst().firstRange(of: piece.text) else { return false }
      rest = rest[place.upperBound...]
    }
    let last = pieces[pieces.count - 1].text
    return rest.count > last.count && rest.hasSuffix(last)
  }

  fileprivate static func quoted(_ value: String) -> String {
    let text = value.count > 80 ? value.prefix(80) + "…" : value[...]
    return OrderedJSON.string(String(text)).line
  }
}

/// The differences between two requests, as far as they are wanted.
private struct Differences {
  /// Whether each is told; otherwise the first one ends the comparison.
  let hasWords: Bool
  /// Whether a placeholder in the recording matches any text.
  var allowsHidden: Bool
  private(set) var words: [String] = []
  private(set) var isEmpty = true

  init(hasWords: Bool, allowsHidden: Bool = false) { (self.hasWords, self.allowsHidden) = (hasWords, allowsHidden) }

  /// Whether further values would add no information.
  var isDone: Bool { !hasWords && !isEmpty }

  func isSame(_ now: String, _ recorded: String) -> Bool {
    RequestSketch.isSame(now, recorded) || (allowsHidden && RequestSketch.isHidden(now, recorded))
  }

  mutating func add(_ text: @autoclosure () -> String) {
    isEmpty = false
    if hasWords { words.append(text()) }
  }
}

extension RequestSketch.BodySketch {
  fileprivate func compare(to recorded: Self, _ rules: CassetteMatching, _ found: inout Differences) {
    switch (self, recorded) {
    case (.none, .none): break
    case (.json(let now), .json(let then)): Self.compare(now, then, at: "", rules, &found)
    case (.form(let now), .form(let then)): RequestSketch.compare("body", now, then, &found)
    case (.parts(let now), .parts(let then)):
      if now.count != then.count { return found.add("body: \(now.count) parts now, \(then.count) recorded") }
      for (index, pair) in zip(now, then).enumerated() where pair.0 != pair.1 {
        found.add("body: part \(index + 1) differs")
      }
    case (.text(let now), .text(let then)):
      if found.isSame(now, then) { return }
      found.add("body: \(RequestSketch.quoted(now)) now, \(RequestSketch.quoted(then)) recorded")
    case (.bytes(let now), .bytes(let then)):
      if now == then { return }
      found.add("body: bytes of SHA-256 \(now.prefix(16)) now, \(then.prefix(16)) recorded")
    default: found.add("body: \(name) now, \(recorded.name) recorded")
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
    _ now: OrderedJSON?, _ then: OrderedJSON?, at place: String, _ rules: CassetteMatching, _ found: inout Differences
  ) {
    if found.isDone || now == then || rules.ignores(place) { return }
    switch (now, then) {
    case (.object(let members), .object(let others)):
      let (mine, recorded) = (values(of: members), values(of: others))
      var names = members.map { plain($0.name) }
      names += others.map { plain($0.name) }.filter { mine[$0] == nil }
      for name in names {
        let token = name.replacing("~", with: "~0").replacing("/", with: "~1")
        compare(mine[name], recorded[name], at: "\(place)/\(token)", rules, &found)
      }
    case (.array(let elements), .array(let others)):
      for index in 0..<max(elements.count, others.count) {
        compare(
          index < elements.count ? elements[index] : nil, index < others.count ? others[index] : nil,
          at: "\(place)/\(index)", rules, &found)
      }
    case (.string(let text), .string(let other)) where found.isSame(text, other): return
    case (.number(let text), .number(let other)) where isSame(number: text, other): return
    default:
      found.add("body, \(place.isEmpty ? "/" : place): \(shown(now)) now, \(shown(then)) recorded")
    }
  }

  /// The members by name; of several with one name the first counts.
  private static func values(of members: [OrderedJSON.Member]) -> [String: OrderedJSON] {
    Dictionary(members.map { (plain($0.name), $0.value) }) { first, _ in first }
  }

  /// A name with a hidden token, whose number a request that is compared does not know.
  private static func plain(_ name: String) -> String {
    let pieces = RedactionPlaceholders.pieces(of: name)
    return pieces.count == 1 ? name : pieces.map(\.text).joined(separator: Redactor.placeholder)
  }

  /// Whether two numbers are the same in different spellings, such as 1 and 1.0.
  ///
  /// Integers are compared by their digits, because a floating-point number does not hold those of a long identifier.
  private static func isSame(number text: String, _ other: String) -> Bool {
    let areIntegers = [text, other].allSatisfy {
      $0.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }
    return !areIntegers && Double(text) == Double(other)
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
