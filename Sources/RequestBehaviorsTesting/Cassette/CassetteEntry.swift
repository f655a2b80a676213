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

  /// Whether something in the URL or the body of the request is hidden.
  var hidesPartOfRequest: Bool {
    [url, json["request"]?["postData"]?["text"]?.text].compactMap(\.self)
      .contains { RedactionPlaceholders.pieces(of: $0).count > 1 }
  }

  private static func date(_ text: String) -> Date? {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return (try? style.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
  }

  /// Returns the parts that say whether a server sends the same as before, without the ignored fields (in lower case).
  func lasting(ignoring ignored: Set<String>) -> OrderedJSON {
    .members([
      "head": head(ignoring: CassetteEntry.changing.union(ignored)), "content": json["response"]?["content"],
    ])
  }

  /// The request, and what is before and after the body, without some fields (in lower case).
  private func head(ignoring ignored: Set<String>) -> OrderedJSON {
    let fields = (json["response"]?["headers"]?.elements ?? []).filter { field in
      let name = CassetteEntry.name(of: field)
      return !ignored.contains(name) && !name.hasPrefix("x-ratelimit-")
    }
    return .members([
      "request": json["request"], "status": json["response"]?["status"], "fields": .array(fields),
      "trailers": json["_requestBehaviors"]?["trailers"], "error": json["_requestBehaviors"]?["end"]?["error"],
    ])
  }

  private static func name(of field: OrderedJSON) -> String { field["name"]?.text?.lowercased() ?? "" }

  /// Returns the entry with the dates, times and changing fields of an older one from which only the body differs, so
  /// that a changed value is a small change of the file.
  func keepingTimes(of old: CassetteEntry, ignoring ignored: Set<String>) -> OrderedJSON {
    let changing = CassetteEntry.changing.union(CassetteEntry.describingBody).union(ignored)
    guard head(ignoring: changing) == old.head(ignoring: changing) else { return json }
    let kept = json.with("startedDateTime", old.json["startedDateTime"])
      .with("response", json["response"]?.with("headers", .array(fields(keepingTimesOf: old))))
    let (extras, oldExtras) = (json["_requestBehaviors"], old.json["_requestBehaviors"])
    let (chunks, oldChunks) = (extras?["chunks"]?.elements ?? [], oldExtras?["chunks"]?.elements ?? [])
    // Reads of another number have other times, and a table that was damaged by hand has none.
    guard chunks.count == oldChunks.count, oldChunks.allSatisfy({ $0.elements.count == 2 }) else { return kept }
    let pairs = zip(chunks, oldChunks).map { new, old in OrderedJSON.array([old.elements[0], new.elements[1]]) }
    return kept.with("time", old.json["time"]).with("timings", old.json["timings"])
      .with(
        "_requestBehaviors",
        extras?.with("head", oldExtras?["head"]).with("chunks", pairs.isEmpty ? nil : .array(pairs))
          .with("end", oldExtras?["end"]))
  }

  /// The fields of the older entry, but for those that describe the body.
  private func fields(keepingTimesOf old: CassetteEntry) -> [OrderedJSON] {
    let new = (json["response"]?["headers"]?.elements ?? []).filter {
      CassetteEntry.describingBody.contains(CassetteEntry.name(of: $0))
    }
    let kept = (old.json["response"]?["headers"]?.elements ?? []).filter {
      !CassetteEntry.describingBody.contains(CassetteEntry.name(of: $0))
    }
    return (kept + new).enumerated()
      .sorted { (CassetteEntry.name(of: $0.element), $0.offset) < (CassetteEntry.name(of: $1.element), $1.offset) }
      .map(\.element)
  }

  /// The end of a stream that its reader left.
  static func cancelledEnd(_ time: Duration?) -> OrderedJSON {
    .members(["error": .string("cancelled"), "at": time.map { .milliseconds($0) }])
  }

  /// The fields of responses that differ each time.
  private static let changing: Set<String> = [
    "date", "age", "expires", "server-timing", "x-request-id", "cf-ray", "via", "set-cookie",
  ]

  /// The fields that differ with the body.
  private static let describingBody: Set<String> = [
    "content-length", "etag", "content-md5", "content-digest", "repr-digest", "digest",
  ]
}

extension RequestSketch {
  fileprivate func with(body: BodySketch) -> RequestSketch {
    RequestSketch(
      method: method, origin: origin, path: path, query: query, fields: fields, body: body, shown: shown)
  }
}
