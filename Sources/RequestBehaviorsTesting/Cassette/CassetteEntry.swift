public import Foundation
import RequestBehaviors

/// An entry of a cassette: a request, and what the server sent.
public struct CassetteEntry: Sendable, CustomStringConvertible {
  /// The number of the entry in its file, from 1.
  public let number: Int
  /// The method.
  public let method: String
  /// The URL; credentials in it are hidden.
  public let url: String
  /// The status of the response; 0 if there was no response.
  public let statusCode: Int
  /// The date of the request.
  public let date: Date
  let json: OrderedJSON
  let sketch: RequestSketch

  /// Number, method, URL and status.
  public var description: String { "\(number) (\(method) \(url), \(statusCode))" }

  /// Reads an entry.
  ///
  /// - Throws: ``CassetteError`` if it has no method, URL, status or date.
  init(_ json: OrderedJSON, number: Int, in file: String, _ redaction: PlayableRedaction) throws {
    let request = json["request"]
    guard let method = request?["method"]?.text, let url = request?["url"]?.text,
      let status = json["response"]?["status"]?.int,
      let date = json["startedDateTime"]?.text.flatMap(CassetteEntry.date)
    else {
      throw CassetteError(
        "entry \(number) of \(file) lacks its method, URL, status or date; record it again")
    }
    (self.number, self.method, self.url, statusCode) = (number, method, url, status)
    (self.date, self.json) = (date, json)
    let fields = HeaderFields(har: request?["headers"])
    let body = request?["postData"]?["text"]?.text.map { Data($0.utf8) }
    let type = request?["postData"]?["mimeType"]?.text ?? fields[.contentType]
    let sketch = redaction.sketch(
      method: method, url: url, fields: fields, body: body, contentType: type)
    if let parts = request?["postData"]?["_parts"]?.elements {
      self.sketch = sketch.with(body: .parts(parts.compactMap(\.text)))
    } else if let hash = request?["postData"]?["_sha256"]?.text {
      self.sketch = sketch.with(body: .bytes(hash))
    } else {
      self.sketch = sketch
    }
  }

  private static func date(_ text: String) -> Date? {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return (try? style.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
  }

  /// Returns the parts that say whether a server sends the same as before, without the ignored fields (in lower case).
  func lasting(ignoring ignored: Set<String>) -> OrderedJSON {
    let response = json["response"]
    let fields = (response?["headers"]?.elements ?? []).filter { field in
      let name = field["name"]?.text?.lowercased() ?? ""
      return !CassetteEntry.changing.contains(name) && !name.hasPrefix("x-ratelimit-") && !ignored.contains(name)
    }
    return .members([
      "request": json["request"], "status": response?["status"], "fields": .array(fields),
      "content": response?["content"], "trailers": json["_requestBehaviors"]?["trailers"],
      "error": json["_requestBehaviors"]?["end"]?["error"],
    ])
  }

  /// The end of a stream that its reader left.
  static func cancelledEnd(_ time: Duration?) -> OrderedJSON {
    .members(["error": .string("cancelled"), "at": time.map { .milliseconds($0) }])
  }

  /// The fields of responses that differ each time.
  private static let changing: Set<String> = [
    "date", "age", "expires", "server-timing", "x-request-id", "cf-ray", "via", "set-cookie",
  ]
}

extension RequestSketch {
  fileprivate func with(body: BodySketch) -> RequestSketch {
    RequestSketch(
      method: method, origin: origin, path: path, query: query, fields: fields, body: body, shown: shown)
  }
}
