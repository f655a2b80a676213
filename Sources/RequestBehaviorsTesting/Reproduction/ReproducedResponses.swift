import Foundation
import RequestBehaviors

/// The replies to the sends of a failed call, for a mock or a cassette.
struct ReproducedResponses {
  typealias Reply = RecordedFailure.Reply

  let all: [Reply]
  private let date: Date

  init(_ failure: RecordedFailure, at date: Date) { (all, self.date) = (failure.replies, date) }

  var hasFailures: Bool { all.contains { $0.kind == .failure || $0.kind == .cut } }
  var bodyBytes: Int { all.reduce(0) { $0 + $1.body.count } }
}

// MARK: - Stubs

extension ReproducedResponses {
  /// The lines that add the responses to a mock, one stub for each method and place.
  var stubs: [String] {
    var places: [(method: RequestMethod, place: String)] = []
    for reply in all where !places.contains(where: { $0.method == reply.method && $0.place == reply.place }) {
      places.append((reply.method, reply.place))
    }
    return places.flatMap { method, place -> [String] in
      let replies = all.filter { $0.method == method && $0.place == place }
      let head = "    mock.on(\(SwiftSource.method(method)), \(SwiftSource.literal(place, indentation: 6)))"
      return [head] + merged(replies.map(stub))
    }
  }

  /// Returns the lines of responses, with equal neighbours as one.
  private func merged(_ stubs: [String]) -> [String] {
    var lines: [(text: String, count: Int)] = []
    for stub in stubs {
      if let last = lines.last, last.text == stub { lines[lines.count - 1].count += 1 } else { lines.append((stub, 1)) }
    }
    return lines.map { "      \($0.text)\($0.count > 1 ? ".times(\($0.count))" : "")" }
  }

  private func stub(_ reply: Reply) -> String {
    let fields = reply.headers.isEmpty ? nil : "headers: \(SwiftSource.fields(reply.headers))"
    switch reply.kind {
    case .never: return ".respond(200).delayed(by: .seconds(86_400))"
    case .failure: return ".fail(\(failure(reply)))"
    case .cut:
      let chunk = reply.body.isEmpty ? nil : ".chunk(\(SwiftSource.expression(reply.body, indentation: 10)))"
      let parts = [chunk, ".fail(\(failure(reply)))", "status: \(reply.status)", fields].compactMap(\.self)
      return ".stream(\n        \(parts.joined(separator: ",\n        ")))"
    case .response:
      let head = ["\(reply.status)", fields].compactMap(\.self).joined(separator: ", ")
      guard !reply.body.isEmpty else { return ".respond(\(head))" }
      return ".respond(\n        \(head),\n        body: \(SwiftSource.expression(reply.body, indentation: 10)))"
    }
  }

  private func failure(_ reply: Reply) -> String {
    let message = SwiftSource.literal(reply.message.prefix(300), indentation: 10)
    let stage = reply.stage.map { ", .\($0.name)" } ?? ""
    return "failure(\n          \(SwiftSource.literal(reply.code, indentation: 10)), \(message)\(stage))"
  }
}

// MARK: - The cassette

extension ReproducedResponses {
  /// The responses as a cassette.
  var cassette: Data {
    let log = OrderedJSON.members([
      "version": .string("1.2"),
      "creator": .members(["name": .string("RequestBehaviors"), "version": .string("1")]),
      "entries": .array(all.map(entry)),
    ])
    return OrderedJSON.members(["log": log]).data()
  }

  private func entry(_ reply: Reply) -> OrderedJSON {
    let time = date.addingTimeInterval(Double(reply.at.components.seconds))
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let hasResponse = reply.kind == .response || reply.kind == .cut
    let text = String(data: reply.body, encoding: .utf8)
    let failure: OrderedJSON? =
      reply.kind == .response
      ? nil
      : .members([
        "error": .string(reply.kind == .never ? NetworkError.Code.timedOut.rawValue : reply.code),
        "message": .string(reply.message), "stage": reply.stage.map { .string($0.name) }, "at": .integer(0),
      ])
    return .members([
      "startedDateTime": .string(time.formatted(style)), "time": .integer(0),
      "request": .members([
        "method": .string(reply.method.rawValue), "url": .string(reply.url), "httpVersion": .string("unknown"),
        "cookies": .array([]), "headers": .array([]), "queryString": OrderedJSON.query(of: reply.url),
        "headersSize": .integer(-1), "bodySize": .integer(-1),
      ]),
      "response": .members([
        "status": .integer(hasResponse ? reply.status : 0), "statusText": .string(""),
        "httpVersion": .string("unknown"), "cookies": .array([]), "headers": reply.headers.har,
        "content": .members([
          "size": .integer(reply.body.count), "mimeType": .string(reply.headers[.contentType] ?? "x-unknown"),
          "text": .string(text ?? reply.body.base64EncodedString()),
          "encoding": text == nil ? .string("base64") : nil,
        ]),
        "redirectURL": .string(reply.headers["Location"] ?? ""), "headersSize": .integer(-1),
        "bodySize": .integer(-1),
      ]),
      "cache": .object([]),
      "timings": .members(["send": .integer(0), "wait": .integer(0), "receive": .integer(0)]),
      "_requestBehaviors": .members(["end": failure]),
    ])
  }
}
