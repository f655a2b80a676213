import Foundation

/// Reads the events of a `text/event-stream` by the rules of WHATWG HTML §9.2.6: bytes in, events out.
///
/// What is no UTF-8 is replaced. Fields of other names are ignored. An event that the end of the stream cuts off, because
/// no empty line follows it, is dropped.
struct EventParser: Sendable {
  private let limit: Int
  private var lines: LineSplitter
  private var fields: EventFields

  /// Creates a parser.
  ///
  /// - Parameters:
  ///   - limit: The most bytes of a line, and of the lines of one event that are kept.
  ///   - lastEventID: The id that the first request sends; empty if it sends none.
  init(limit: Int = LineSplitter.standardLimit, lastEventID: String = "") {
    self.limit = limit
    lines = LineSplitter(limit: limit)
    fields = EventFields(limit: limit, lastEventID: lastEventID)
  }

  /// The id that a further request would send; empty if there is none.
  var lastEventID: String { fields.lastEventID }

  /// The latest wait that the server asked for; `nil` if there is none.
  var retry: Duration? { fields.retry }

  /// Adds a chunk.
  mutating func add(_ chunk: Data) { lines.add(chunk) }

  /// Begins with a further body; what stays is what a further request is to know.
  mutating func restart() {
    lines = LineSplitter(limit: limit)
    fields.forgetUnfinished()
  }

  /// Returns the next event; `nil` if more has to come first.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/lineTooLong``.
  mutating func next() throws -> ServerSentEvent? {
    while let line = try lines.next() {
      if let event = try lines.withBytes(of: line, { try fields.add($0) }) { return event }
    }
    return nil
  }
}

/// The fields of an event that is not complete yet, and what stays from event to event.
private struct EventFields: Sendable {
  private(set) var lastEventID: String
  private(set) var retry: Duration?

  private let limit: Int
  private var type: [UInt8] = []
  private var data: [UInt8] = []
  private var id: String?
  // How many bytes the kept lines of the event have.
  private var count = 0

  init(limit: Int, lastEventID: String) {
    self.limit = limit
    self.lastEventID = lastEventID
  }

  /// Adds a line; returns the event that it completes.
  mutating func add(_ line: UnsafeBufferPointer<UInt8>) throws -> ServerSentEvent? {
    if line.isEmpty { return complete() }
    let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.count
    // A comment, such as those that keep a connection alive.
    if colon == 0 { return nil }
    var start = min(colon + 1, line.count)
    if start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
    let name = UnsafeBufferPointer(rebasing: line[..<colon])
    let value = UnsafeBufferPointer(rebasing: line[start...])
    if name.equals("data") {
      try keep(line)
      data.append(contentsOf: value)
      data.append(UInt8(ascii: "\n"))
    } else if name.equals("event") {
      try keep(line)
      type.removeAll(keepingCapacity: true)
      type.append(contentsOf: value)
    } else if name.equals("id") {
      try keep(line)
      if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
    } else if name.equals("retry") {
      // More than eighteen digits are more milliseconds than anybody waits.
      let isNumber = !value.isEmpty && value.count <= 18 && value.allSatisfy { (0x30...0x39).contains($0) }
      if isNumber, let time = Int64(String(decoding: value, as: UTF8.self)) { retry = .milliseconds(time) }
    }
    return nil
  }

  private mutating func keep(_ line: UnsafeBufferPointer<UInt8>) throws {
    count += line.count
    guard count <= limit else { throw NetworkError.lineTooLong("server-sent event", limit: limit) }
  }

  /// Forgets the event that is not complete.
  mutating func forgetUnfinished() {
    type.removeAll(keepingCapacity: true)
    data.removeAll(keepingCapacity: true)
    id = nil
    count = 0
  }

  /// Ends the event at an empty line; without data it is none, and its id counts all the same.
  private mutating func complete() -> ServerSentEvent? {
    defer { forgetUnfinished() }
    if let id { lastEventID = id }
    guard !data.isEmpty else { return nil }
    return ServerSentEvent(
      type: type.isEmpty ? "message" : String(decoding: type, as: UTF8.self),
      data: data.withUnsafeBufferPointer { String(decoding: $0.dropLast(), as: UTF8.self) }, id: lastEventID,
      retry: retry)
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount, let baseAddress else { return false }
    return memcmp(baseAddress, text.utf8Start, count) == 0
  }
}
