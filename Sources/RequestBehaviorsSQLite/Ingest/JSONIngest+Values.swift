internal import CRequestBehaviorsSQLite
import Foundation

extension JSONIngest {
  /// Binds the values of an object whose keys are columns, and skips the others.
  mutating func bind(object node: IngestColumns.Node) throws {
    node.expected = 0
    try scanner.expect("{")
    if try scanner.skip("}") { return }
    var count = 0
    while true {
      guard try scanner.peek() == UInt8(ascii: "\"") else { throw scanner.failure("a key is missing") }
      count += 1
      // An object may be as long as the text, and is one row.
      if count.isMultiple(of: 4_096), connection.mustStop { throw connection.failure(SQLITE_INTERRUPT) }
      let key = try scanner.string()
      try scanner.expect(":")
      try bind(valueOf: child(of: node, key))
      if try scanner.skip("}") { return }
      try scanner.expect(",")
    }
  }

  private func bindNull(below node: IngestColumns.Node) throws {
    for child in node.children {
      if child.column >= 0 { try binder.bindNull(child.column) }
      try bindNull(below: child)
    }
  }

  @inline(__always)
  private func child(of node: IngestColumns.Node, _ key: JSONScanner.Text) throws -> IngestColumns.Node {
    guard key.hasEscapes else { return columns.child(of: node, key: bytes(key)) }
    return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: key.end - key.start + 1) { buffer in
      let length = try buffer.baseAddress.map { try scanner.unescape(key, into: $0) } ?? 0
      return columns.child(of: node, key: UnsafeBufferPointer(rebasing: buffer[0..<length]))
    }
  }

  @inline(__always)
  private mutating func bind(valueOf node: IngestColumns.Node) throws {
    if node.column < 0 {
      // No column takes this value, but columns may take values within it.
      guard !node.children.isEmpty else { return try scanner.skipValue() }
      // If the object has the key twice, the last value counts, also where that has fewer keys.
      try bindNull(below: node)
      switch try scanner.peek() {
      case UInt8(ascii: "{"): return try bind(object: node)
      case UInt8(ascii: "n"): return try scanner.literal("null")
      default:
        let key = String(decoding: node.key, as: UTF8.self)
        throw mismatch("the value of \"\(key)\" is not an object, of which columns take values")
      }
    }
    // The statement was prepared without a column that this object has.
    guard columns.columns.count == width else { throw NewColumn() }
    switch try scanner.peek() {
    case UInt8(ascii: "\""): try bind(string: node)
    case UInt8(ascii: "{"), UInt8(ascii: "["): try bind(nested: node)
    case UInt8(ascii: "t"):
      try scanner.literal("true")
      try bind(true, node)
    case UInt8(ascii: "f"):
      try scanner.literal("false")
      try bind(false, node)
    case UInt8(ascii: "n"):
      try scanner.literal("null")
      try binder.bindNull(node.column)
    default: try bind(number: node)
    }
  }

  private func bind(_ flag: Bool, _ node: IngestColumns.Node) throws {
    guard node.kind == .bool || node.kind == .integer || node.kind == .any else {
      throw unfit("a boolean", node)
    }
    try binder.bind(flag ? 1 as Int64 : 0, node.column)
  }

  @inline(__always)
  private mutating func bind(number node: IngestColumns.Node) throws {
    let number = try scanner.number()
    guard node.kind != .text, node.kind != .blob else { throw unfit("a number", node) }
    if let integer = number.integer, node.kind != .date { return try binder.bind(integer, node.column) }
    guard node.kind != .integer, node.kind != .bool, let value = double(number) else {
      throw unfit(number.isIntegral ? "an integer beyond 64 bits" : "a fraction", node)
    }
    if node.kind == .date {
      return try binder.bind(Date(timeIntervalSince1970: value), node.column)
    }
    guard node.kind == .real || !number.isIntegral else { throw unfit("an integer beyond 64 bits", node) }
    try binder.bind(value, node.column)
  }

  private func double(_ number: JSONScanner.Number) -> Double? {
    if let simple = number.simple { return simple }
    let digits = UnsafeBufferPointer(start: scanner.bytes + number.start, count: number.end - number.start)
    guard let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite else { return nil }
    return value
  }

  @inline(__always)
  private mutating func bind(string node: IngestColumns.Node) throws {
    let text = try scanner.string()
    switch node.kind {
    case .text, .any: try bind(text, node.column)
    case .date:
      guard let date = DateText.date(from: bytes(text)) else { throw unfit("a string that is not a date", node) }
      try binder.bind(date, node.column)
    case .integer, .real, .bool: throw unfit("a string", node)
    // JSON has no common form for bytes. Records that are decoded and saved have the form of their type.
    case .blob: throw unfit("a string, decode and save it instead", node)
    }
  }

  @inline(__always)
  private func bind(_ text: JSONScanner.Text, _ column: Int32) throws {
    // Text without escapes is bound in place, because the body outlives the run of the statement.
    guard text.hasEscapes else { return try binder.bind(staticText: bytes(text), column) }
    let room = text.end - text.start + 1
    if let target = binder.arena.take(room) {
      let length = try scanner.unescape(text, into: target)
      return try binder.bind(staticText: UnsafeBufferPointer(start: target, count: length), column)
    }
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { buffer in
      let length = try buffer.baseAddress.map { try scanner.unescape(text, into: $0) } ?? 0
      try binder.bind(text: UnsafeBufferPointer(rebasing: buffer[0..<length]), column)
    }
  }

  /// Binds an object or array as JSON text.
  private mutating func bind(nested node: IngestColumns.Node) throws {
    guard node.kind == .text || node.kind == .any else { throw unfit("an object or array", node) }
    let start = scanner.index
    try scanner.skipValue()
    let text = UnsafeBufferPointer(start: scanner.bytes + start, count: scanner.index - start)
    try binder.bind(staticText: text, node.column)
  }

  private func unfit(_ what: String, _ node: IngestColumns.Node) -> SQLiteError {
    let column = columns.columns[Int(node.column)]
    return mismatch("the column \"\(column.name)\" is \(column.declaredType), the value is \(what)")
  }
}
