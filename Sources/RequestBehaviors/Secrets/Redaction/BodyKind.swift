import Foundation

/// The readable kinds of bodies.
enum BodyKind {
  case json
  case form
  case text
  case other

  init(_ contentType: String?) {
    let type = BodyKind.mediaType(contentType)
    let isJSON = type.hasSuffix("json") || type.hasSuffix("json-seq")
    let isText =
      type.hasPrefix("text/") || type.hasSuffix("xml") || type.hasSuffix("javascript")
      || type.hasSuffix("graphql") || type.hasSuffix("yaml")
    if type == "application/x-www-form-urlencoded" {
      self = .form
    } else {
      self = isJSON ? .json : isText ? .text : .other
    }
  }

  /// Reads the kind from the type, and where that is unknown from the body, because servers send tokens as
  /// `application/x-amz-json-1.1` or without a type; `nil` for a binary body, and for parts, which may be binary.
  init?(_ contentType: String?, readingIfUnknown body: Data) {
    self.init(contentType)
    guard self == .other else { return }
    let type = BodyKind.mediaType(contentType)
    let isOpaque = ["image/", "audio/", "video/", "font/", "multipart/"].contains { type.hasPrefix($0) }
    guard !isOpaque, !body.contains(0), let first = body.first(where: { !$0.isJSONWhitespace }) else { return nil }
    let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    guard isJSON || String(data: body, encoding: .utf8) != nil || BodyKind.isMostlyASCII(body) else { return nil }
    self = isJSON ? .json : .text
  }

  /// Whether the bytes look like text of another encoding than UTF-8, or like text that is cut within a character.
  ///
  /// Half of the bytes of binary data are no ASCII, and some are control characters.
  private static func isMostlyASCII(_ body: Data) -> Bool {
    !body.contains(where: \.isControl) && 4 * body.count { $0 > 0x7F } <= body.count
  }

  /// Returns the type and subtype in lower case without parameters.
  static func mediaType(_ contentType: String?) -> String {
    let type = (contentType ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > 0x20 && $0 < 0x7F }
    return type.isEmpty ? "unknown type" : String(decoding: type.prefix(100).map(\.lowercasedASCII), as: UTF8.self)
  }
}

extension UInt8 {
  /// Whether no text has the byte.
  fileprivate var isControl: Bool { self < 0x20 && !(0x09...0x0D).contains(self) && self != 0x1B || self == 0x7F }
}
