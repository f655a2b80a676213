import Foundation

extension LogRecord {
  /// The record for machines: a JSON object on one line.
  ///
  /// It has the names of OpenTelemetry's log model and of its semantic conventions for HTTP; values without a standard
  /// name are under `request_behaviors`. Durations are in seconds. Unknown values are left out.
  public var json: String {
    // A `nil` value adds no member.
    var object = JSONObject()
    object.add("timestamp", LogText.timestamp(date))
    object.add("severity_text", level.description.uppercased())
    object.add("body", "\(method) \(url)" + (statusCode.map { " \($0)" } ?? ""))
    object.add("trace_id", traceID)
    object.add("span_id", spanID)
    object.add("http.request.method", method.rawValue)
    object.add("url.full", url)
    object.add("url.template", endpoint)
    object.add(number: "http.response.status_code", statusCode.map(String.init))
    object.add(number: "http.request.body.size", requestBytes.map { "\($0)" })
    object.add(number: "http.response.body.size", responseBytes.map(String.init))
    object.add("error.type", errorType)
    object.add("error.message", error)
    if kind.isOfOneSend {
      object.add(number: "http.request.resend_count", sends > 1 ? "\(sends - 1)" : nil)
    } else {
      object.add(number: "request_behaviors.attempts", "\(sends)")
    }
    object.add("request_behaviors.kind", kind.rawValue)
    object.add(number: "request_behaviors.call", "\(call)")
    object.add(number: "request_behaviors.parent", parent.map { "\($0)" })
    object.add("request_behaviors.source", source?.rawValue)
    object.add("request_behaviors.decisions", decisions.isEmpty ? nil : decisions)
    object.add(seconds: "request_behaviors.duration", duration)
    addPhases(to: &object)
    addConnection(to: &object)
    addFields(requestHeaders, under: "http.request.header.", to: &object)
    object.add("request_behaviors.request.body", requestBody)
    addFields(responseHeaders, under: "http.response.header.", to: &object)
    object.add("request_behaviors.response.body", responseBody)
    return object.text
  }

  private func addPhases(to object: inout JSONObject) {
    guard let phases else { return }
    object.add(seconds: "request_behaviors.duration.behaviors", phases.behaviors)
    object.add(seconds: "request_behaviors.duration.waiting", phases.waiting)
    object.add(seconds: "request_behaviors.duration.receiving", phases.receiving)
    object.add(seconds: "request_behaviors.duration.decoding", phases.decoding)
  }

  /// Adds each field once, with all of its values.
  private func addFields(_ fields: HeaderFields?, under prefix: String, to object: inout JSONObject) {
    var added: Set<String> = []
    for field in fields ?? [:] where added.insert(field.name.lowercased()).inserted {
      object.add(field: prefix + field.name.lowercased(), fields?.values(for: field.name) ?? [])
    }
  }
}

extension LogRecord {
  /// The versions of HTTP by their ALPN names (RFC 7301), as the conventions of OpenTelemetry name them.
  private static let versions = ["http/1.0": "1.0", "http/1.1": "1.1", "h2": "2", "h2c": "2", "h3": "3"]

  private func addConnection(to object: inout JSONObject) {
    guard let connection else { return }
    object.add(seconds: "request_behaviors.connection.queued", connection.queued)
    object.add(seconds: "request_behaviors.connection.name_lookup", connection.nameLookup)
    object.add(seconds: "request_behaviors.connection.connecting", connection.connecting)
    object.add(seconds: "request_behaviors.connection.securing", connection.securing)
    object.add(number: "request_behaviors.connection.reused", "\(connection.isReused)")
    object.add("network.protocol.version", connection.protocolName.map { LogRecord.versions[$0] ?? $0 })
    guard let address = connection.remoteAddress else { return }
    let host = HAREntries.host(of: address)
    object.add("network.peer.address", host)
    // An address without a port is the host itself, and may have colons.
    let port = host == address ? nil : address.split(separator: ":").last.flatMap { UInt16($0) }
    object.add(number: "network.peer.port", port.map(String.init))
  }
}

/// Writes a JSON object member by member.
private struct JSONObject {
  private var bytes: [UInt8] = []

  /// Creates an object with room for the members of most records.
  init() {
    bytes.reserveCapacity(1_024)
    bytes.append(UInt8(ascii: "{"))
  }

  var text: String { String(decoding: bytes + [UInt8(ascii: "}")], as: UTF8.self) }

  mutating func add(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    addName(name)
    JSONText.appendQuoted(value.utf8, to: &bytes)
  }

  mutating func add(_ name: StaticString, _ values: [String]?) {
    guard let values else { return }
    addName(name)
    appendList(values)
  }

  mutating func add(field name: String, _ values: [String]) {
    beginMember()
    JSONText.appendQuoted(name.utf8, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    appendList(values)
  }

  private mutating func appendList(_ values: [String]) {
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONText.appendQuoted(value.utf8, to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func add(number name: StaticString, _ value: String?) {
    guard let value else { return }
    addName(name)
    bytes.append(contentsOf: value.utf8)
  }

  mutating func add(seconds name: StaticString, _ duration: Duration?) {
    guard let duration else { return }
    addName(name)
    LogText.appendSeconds(duration, to: &bytes)
  }

  /// Adds a name of the code, which has nothing to escape.
  private mutating func addName(_ name: StaticString) {
    beginMember()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func beginMember() {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
  }
}
