import Foundation

extension LogRecord {
  /// The record for machines: a JSON object on one line.
  ///
  /// Durations are in milliseconds. What is not known is left out.
  public var json: String {
    var object = JSONObject()
    object.add("time", LogText.timestamp(date))
    object.add("level", level.description)
    object.add("kind", kind.rawValue)
    object.add(number: "call", "\(call)")
    object.add(number: "parent", parent.map { "\($0)" })
    object.add("trace_id", traceID)
    object.add("span_id", spanID)
    object.add(number: "sends", "\(sends)")
    object.add("method", method.rawValue)
    object.add("url", url)
    object.add("endpoint", endpoint)
    object.add(number: "status", statusCode.map(String.init))
    object.add(number: "request_bytes", requestBytes.map { "\($0)" })
    object.add(number: "response_bytes", responseBytes.map(String.init))
    object.add(number: "duration_ms", duration.map(LogText.milliseconds))
    addPhases(to: &object)
    object.add("source", source?.rawValue)
    object.add("error", error)
    object.add("decisions", decisions.isEmpty ? nil : decisions)
    object.add("request_headers", requestHeaders?.map { "\($0.name): \($0.value)" })
    object.add("request_body", requestBody)
    object.add("response_headers", responseHeaders?.map { "\($0.name): \($0.value)" })
    object.add("response_body", responseBody)
    return object.text
  }

  private func addPhases(to object: inout JSONObject) {
    guard let phases else { return }
    object.add(number: "behaviors_ms", LogText.milliseconds(phases.behaviors))
    object.add(number: "waiting_ms", phases.waiting.map(LogText.milliseconds))
    object.add(number: "receiving_ms", phases.receiving.map(LogText.milliseconds))
    object.add(number: "decoding_ms", LogText.milliseconds(phases.decoding))
  }
}

/// Writes a JSON object member by member.
private struct JSONObject {
  private var bytes: [UInt8] = [UInt8(ascii: "{")]

  var text: String { String(decoding: bytes + [UInt8(ascii: "}")], as: UTF8.self) }

  mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    addName(name)
    JSONText.appendQuoted(value.utf8, to: &bytes)
  }

  mutating func add(_ name: String, _ values: [String]?) {
    guard let values else { return }
    addName(name)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONText.appendQuoted(value.utf8, to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func add(number name: String, _ value: String?) {
    guard let value else { return }
    addName(name)
    bytes.append(contentsOf: value.utf8)
  }

  private mutating func addName(_ name: String) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    JSONText.appendQuoted(name.utf8, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }
}
