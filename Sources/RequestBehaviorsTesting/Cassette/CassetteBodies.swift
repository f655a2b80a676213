import Foundation
import RequestBehaviors

/// The bodies that are kept in files beside the cassette.
struct CassetteBodies {
  /// The name of the folder.
  let folder: String
  private(set) var files: [String: Data] = [:]
  /// The largest text in the cassette itself.
  static let inlineLimit = 16 * 1_024

  init(folder: String) { self.folder = folder }

  /// Returns the `content` of a response.
  mutating func content(of body: Data, shown: Data?, _ contentType: String?) -> OrderedJSON {
    let type = OrderedJSON.string(contentType ?? "x-unknown")
    let kept = shown ?? body
    // Text of another encoding is a file, because JSON has no place for its bytes.
    if let shown, shown.count <= CassetteBodies.inlineLimit, String(data: shown, encoding: .utf8) != nil {
      return .members([
        "size": .integer(shown.count), "mimeType": type,
        "text": .string(String(decoding: shown, as: UTF8.self)),
      ])
    }
    if kept.isEmpty { return .members(["size": .integer(0), "mimeType": type]) }
    let name = Digest.sha256(of: kept).hexadecimal.prefix(16) + CassetteBodies.ending(contentType)
    files[String(name)] = kept
    return .members([
      "size": .integer(kept.count), "mimeType": type, "_file": .string("\(folder)/\(name)"),
    ])
  }

  private static func ending(_ contentType: String?) -> String {
    let type = (contentType ?? "").prefix { $0 != ";" }.lowercased()
    let known = [
      "json": ".json", "html": ".html", "xml": ".xml", "png": ".png", "jpeg": ".jpg", "pdf": ".pdf",
    ]
    return known.first { type.hasSuffix($0.key) }?.value
      ?? (type.hasPrefix("text/") ? ".txt" : ".bin")
  }
}
