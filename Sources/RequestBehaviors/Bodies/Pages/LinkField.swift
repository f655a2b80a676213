import Foundation

/// A parser for the value of a `Link` field (RFC 8288 §3 and appendix B).
struct LinkField {
  private var rest: Substring.UTF8View

  /// A link with a target that no request can be sent to.
  struct Unusable: Sendable {
    let relations: [String]
    /// The error about the target.
    let error: any Error
  }

  /// The most links of a response that are read.
  ///
  /// Each has a URL, which may be as long as that of the response.
  private static let limit = 256

  /// Returns the links in the values of fields; the text after a syntax error is ignored.
  ///
  /// It reads 256 links at most.
  ///
  /// - Parameters:
  ///   - values: The values; one may be several that were joined.
  ///   - base: The URL of the response, which targets are relative to.
  /// - Returns: The links about the response, in order, and those that cannot be followed.
  static func links(in values: [String], of base: URL) -> (links: [WebLink], unusable: [Unusable]) {
    var links: [WebLink] = []
    var unusable: [Unusable] = []
    var count = 0
    for value in values {
      var field = LinkField(rest: value[...].utf8)
      while count < limit, let (target, parameters) = field.nextLink() {
        count += 1
        let names = parameters.first { $0.name == "rel" }?.value.lowercased().split { " \t".contains($0) } ?? []
        let relations = names.map(String.init)
        guard !relations.isEmpty else { continue }
        // A link with another anchor is about another resource than the response (RFC 8288 §3.2).
        let anchor = parameters.first { $0.name == "anchor" }
        guard anchor.map({ (try? resolve($0.value, base)) == (try? resolve("", base)) }) ?? true else { continue }
        do {
          links.append(WebLink(url: try resolve(target, base), relations: relations, parameters: parameters))
        } catch {
          unusable.append(Unusable(relations: relations, error: error))
        }
      }
    }
    return (links, unusable)
  }

  private static func resolve(_ reference: String, _ base: URL) throws -> URL {
    try URLResolution.resolve(reference: reference, relativeTo: base, keepsFragment: false)
  }

  /// Takes the next target between `<` and `>` with its parameters; `nil` at the end.
  private mutating func nextLink() -> (target: String, parameters: [WebLink.Parameter])? {
    skip { LinkField.isSpace($0) || $0 == UInt8(ascii: ",") }
    guard take("<") else { return nil }
    let target = take { $0 != UInt8(ascii: ">") }
    guard take(">") else { return nil }
    return (target, parameters())
  }

  private mutating func parameters() -> [WebLink.Parameter] {
    var parameters: [WebLink.Parameter] = []
    while true {
      skip(LinkField.isSpace)
      guard take(";") else {
        // The rest is not a parameter: the next link comes after a comma.
        skip { $0 != UInt8(ascii: ",") }
        return parameters
      }
      skip(LinkField.isSpace)
      let name = take { !LinkField.isSpace($0) && !"=;,".utf8.contains($0) }.lowercased()
      skip(LinkField.isSpace)
      var value = ""
      if take("=") {
        skip(LinkField.isSpace)
        value = quotedString() ?? HTTPSyntax.withoutOuterSpace(take { !";,".utf8.contains($0) })
      }
      if !name.isEmpty { parameters.append(WebLink.Parameter(name: name, value: value)) }
    }
  }

  /// Takes a quoted string (RFC 9110 §5.6.4); it extends to the end if its last quote is missing.
  private mutating func quotedString() -> String? {
    guard take("\"") else { return nil }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
        bytes.append(escaped)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func take(while isTaken: (UInt8) -> Bool) -> String {
    let taken = rest.prefix(while: isTaken)
    rest = rest[taken.endIndex...]
    return String(decoding: taken, as: UTF8.self)
  }

  private mutating func skip(_ isSkipped: (UInt8) -> Bool) { rest = rest.drop(while: isSkipped) }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
