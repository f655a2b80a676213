import Foundation

/// Reads the events of a `text/event-stream` by the rules of WHATWG HTML §9.2.6.
///
/// Invalid UTF-8 is replaced. Unknown fields are ignored. An event that the end of the stream cuts off, because no
/// empty line follows it, is dropped.
struct EventParser: Sendable {
  private let limit: Int
  private var lines: LineSplitter
  private var fields: EventFields

  /// Creates a parser.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of bytes of a line, and of the kept lines of one event.
  ///   - lastEventID: The id that the first request sends; empty if it sends no id.
  init(limit: Int = LineSplitter.standardLimit, lastEventID: String = "") {
    self.limit = limit
    lines = LineSplitter(limit: limit)
    fields = EventFields(limit: limit, lastEventID: lastEventID)
  }

  /// The id that a further request would send; empty if it would send no id.
  var lastEventID: String { fields.lastEventID }

  /// The latest wait that the server asked for; `nil` if it asked for no wait.
  var retry: Duration? { fields.retry }

  /// Adds a chunk.
  mutating func add(_ chunk: Data) { lines.add(chunk) }

  /// Starts with a further body, and keeps the state that a further request needs.
  mutating func restart() {
    lines = LineSplitter(limit: limit)
    fields.forgetUnfinished()
  }

  /// Returns the next event; `nil` if more bytes must come first.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/lineTooLong``.
  mutating func next() throws -> ServerSentEvent? {
    while let line = try lines.next() {
      if let event = try lines.withBytes(of: line, &fields, { try $0.add($1) }) { return event }
    }
    return nil
  }
}

/// The fields of the current, incomplete event, and the state that is kept between events.
private struct EventFields: Sendable {
  private(set) var lastEventID: String
  private(set) var retry: Duration?

  private let limit: Int
  private var type = ""
  /// The first line of the data; most events have no other.
  private var firstData: String?
  /// All lines of the data with their ends, once there are two.
  private var data: [UInt8] = []
  private var id: String?
  // The number of bytes in the kept lines of the event.
  private var count = 0

  init(limit: Int, lastEventID: String) {
    self.limit = limit
    self.lastEventID = lastEventID
  }

  /// Adds a line, and returns the event that it completes; `nil` if it completes no event.
  mutating func add(_ line: UnsafeBufferPointer<UInt8>) throws -> ServerSentEvent? {
    if line.isEmpty { return complete() }
    // A line without one of these fields is a comment, such as those that keep a connection alive, or means nothing.
    if let value = line.value(of: "data") {
      try keep(line)
      addData(value)
    } else if let value = line.value(of: "event") {
      try keep(line)
      type = String(decoding: value, as: UTF8.self)
    } else if let value = line.value(of: "id") {
      try keep(line)
      if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
    } else if let value = line.value(of: "retry") {
      // A number of more than eighteen digits might overflow, and is a useless wait.
      let isNumber = !value.isEmpty && value.count <= 18 && value.allSatisfy { (0x30...0x39).contains($0) }
      if isNumber, let time = Int64(String(decoding: value, as: UTF8.self)) { retry = .milliseconds(time) }
    }
    return nil
  }

  private mutating func addData(_ value: UnsafeBufferPointer<UInt8>) {
    guard let firstData else {
      firstData = String(decoding: value, as: UTF8.self)
      return
    }
    if data.isEmpty {
      data.append(contentsOf: firstData.utf8)
      data.append(UInt8(ascii: "\n"))
    }
    data.append(contentsOf: value)
    data.append(UInt8(ascii: "\n"))
  }

  private mutating func keep(_ line: UnsafeBufferPointer<UInt8>) throws {
    count += line.count
    guard count <= limit else { throw NetworkError.lineTooLong("server-sent event", limit: limit) }
  }

  /// Drops the incomplete event.
  mutating func forgetUnfinished() {
    type = ""
    firstData = nil
    if !data.isEmpty { data.removeAll(keepingCapacity: true) }
    id = nil
    count = 0
  }

  /// Ends the event at an empty line.
  ///
  /// Without data there is no event, but its id still counts.
  private mutating func complete() -> ServerSentEvent? {
    defer { forgetUnfinished() }
    if let id { lastEventID = id }
    guard let firstData else { return nil }
    let text =
      data.isEmpty ? firstData : data.withUnsafeBufferPointer { String(decoding: $0.dropLast(), as: UTF8.self) }
    return ServerSentEvent(type: type.isEmpty ? "message" : type, data: text, id: lastEventID, retry: retry)
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Returns the value of a line with a field, without a space at its beginning; `nil` if the line has another field.
  ///
  /// A line without a colon is a field with an empty value.
  // Inlined, so that the name is known: a tenth of all instructions of an event otherwise.
  @inline(__always)
  fileprivate func value(of name: StaticString) -> UnsafeBufferPointer<UInt8>? {
    var start = name.utf8CodeUnitCount
    guard count >= start else { return nil }
    // The first bytes of the names differ, so this is faster than a call.
    for index in 0..<start where self[index] != name.utf8Start[index] { return nil }
    if start < count {
      guard self[start] == UInt8(ascii: ":") else { return nil }
      start += 1
      if start < count, self[start] == UInt8(ascii: " ") { start += 1 }
    }
    return UnsafeBufferPointer(rebasing: self[start...])
  }
}
