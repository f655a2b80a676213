internal import CRequestBehaviorsSQLite
public import Foundation

extension Database {
  /// Saves the records of a JSON text as rows, straight from its bytes.
  ///
  /// It is several times faster than decoding and saving. Use it for responses that only the database reads. Rows are
  /// saved as ``save(_:into:)-([Record],_)`` saves them. A key goes to the column of exactly its name; other keys are
  /// ignored. A key that some objects lack is NULL in their rows. The whole text must be valid JSON (RFC 8259).
  ///
  /// A value must fit the declared type of its column: a string does not become an INTEGER. In a column declared as a
  /// date or time, a string is read as ISO 8601 and a number as seconds since 1970, and the date is written in the
  /// store's form. Objects and arrays go to TEXT columns as JSON. A BLOB column takes only null, because JSON has no
  /// common form for bytes: decode and save such records. If an object has a key twice, the last value counts.
  ///
  /// - Parameters:
  ///   - json: The text; UTF-8.
  ///   - path: Names of keys separated by `.` to one object or an array of objects; the whole text when nil.
  ///   - table: The table.
  ///   - paths: For columns whose key has another name or is nested deeper, the keys separated by `.`: `["owner":
  ///     "owner.login"]`. Two columns must not take the same value, or one a part of the other's.
  /// - Returns: The numbers of rows that were inserted, updated and left unchanged.
  /// - Throws: ``SQLiteError`` with the byte and the ``SQLiteError/row`` at fault. Then no row of the call is saved.
  @discardableResult
  public func ingest(
    _ json: Data, at path: String? = nil, into table: SQLiteTable, columns paths: [String: String] = [:]
  ) throws -> SQLiteSaveCounts {
    let connection = try connection()
    try requireWrite(sql: nil)
    try connection.checkTransaction()
    let schema = try connection.currentSchema(of: table.name)
    let columns = try IngestColumns(schema: schema, paths: paths)
    let keys = (path?.split(separator: ".").map(String.init) ?? [])[...]
    var isRepeated = false
    while true {
      do {
        return try savepoint {
          try json.withUnsafeBytes { bytes in
            var ingest = try JSONIngest(
              bytes.bindMemory(to: UInt8.self), columns: columns, isRepeated: isRepeated, table: table,
              connection: connection)
            try ingest.run(at: keys)
            return ingest.counts
          }
        }
      } catch is JSONIngest.NewColumn {
        // A later object has a column that the first one lacked, so all objects are saved again with that column.
        isRepeated = true
      }
    }
  }
}

/// The columns to which the keys of a JSON object go.
final class IngestColumns {
  /// The values that a column takes, by its declared type.
  enum Kind {
    case integer
    case real
    case text
    case bool
    case date
    case blob
    case any
  }

  /// A key of an object: a column, an object with more keys, or neither.
  final class Node {
    let key: [UInt8]
    var column: Int32 = -1
    var kind = Kind.any
    var children: [Node] = []
    /// The child after the one that was found last: the objects of a list mostly have their keys in the same order.
    var expected = 0

    init(key: [UInt8]) { self.key = key }
  }

  let schema: TableSchema
  let root = Node(key: [])
  private(set) var columns: [TableSchema.Column] = []
  private let paths: [String: String]

  init(schema: TableSchema, paths: [String: String]) throws {
    self.schema = schema
    // A wrong name is an error here: otherwise its values would silently not be saved.
    var renamed: [String: String] = [:]
    for (name, path) in paths.sorted(by: { $0.key < $1.key }) {
      guard let column = schema.column(name), !column.isGenerated else {
        throw SQLiteError(.error, "the table \"\(schema.name)\" has no column \"\(name)\" to save \"\(path)\" in")
      }
      renamed[column.name] = path
    }
    self.paths = renamed
    // Only named columns are added now. The others are added when a record first has their key.
    for column in schema.columns where !column.isGenerated {
      guard let path = renamed[column.name] else { continue }
      let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard !keys.contains("") else {
        throw SQLiteError(.misuse, "the path \"\(path)\" for the column \"\(column.name)\" has an empty key")
      }
      try add(column, at: keys, path)
    }
  }

  /// Returns the node of a key; a new key may add a column to ``columns``.
  @inline(__always)
  func child(of node: Node, key bytes: UnsafeBufferPointer<UInt8>) -> Node {
    if node.expected < node.children.count, Self.equal(node.children[node.expected].key, bytes) {
      node.expected += 1
      return node.children[node.expected - 1]
    }
    return search(node, bytes)
  }

  private func search(_ node: Node, _ bytes: UnsafeBufferPointer<UInt8>) -> Node {
    if let position = node.children.firstIndex(where: { Self.equal($0.key, bytes) }) {
      node.expected = position + 1
      return node.children[position]
    }
    let child = Node(key: Array(bytes))
    let name = String(decoding: bytes, as: UTF8.self)
    if node === root, paths[name] == nil, let column = schema.column(name), column.name == name, !column.isGenerated {
      bind(column, to: child)
    }
    // Real records have fewer keys. Beyond this number, new keys without a column are not remembered.
    guard child.column >= 0 || node.children.count < 1000 else { return child }
    node.children.append(child)
    node.expected = node.children.count
    return child
  }

  private func add(_ column: TableSchema.Column, at keys: [String], _ path: String) throws {
    var node = root
    // The keys lead down the tree, which has one node for each key of a path.
    for key in keys {
      try check(node, column, path)
      let bytes = Array(key.utf8)
      if let next = node.children.first(where: { $0.key == bytes }) {
        node = next
      } else {
        let next = Node(key: bytes)
        node.children.append(next)
        node = next
      }
    }
    try check(node, column, path)
    // A value that is saved whole cannot also be taken apart.
    guard node.children.isEmpty else {
      throw SQLiteError(
        .misuse, "the column \"\(column.name)\" takes \"\(path)\" whole, of which another column takes a part")
    }
    bind(column, to: node)
  }

  /// Throws if another column already takes the value of a node.
  private func check(_ node: Node, _ column: TableSchema.Column, _ path: String) throws {
    guard node.column >= 0 else { return }
    let other = columns[Int(node.column)].name
    throw SQLiteError(
      .misuse, "the columns \"\(other)\" and \"\(column.name)\" take the same value, or a part of it, at \"\(path)\"")
  }

  private func bind(_ column: TableSchema.Column, to node: Node) {
    node.column = Int32(columns.count)
    node.kind = Self.kind(declaredType: column.declaredType)
    columns.append(column)
  }

  @inline(__always)
  private static func equal(_ key: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard key.count == bytes.count, let other = bytes.baseAddress else { return key.isEmpty && bytes.isEmpty }
    return key.withUnsafeBufferPointer { key in
      for index in 0..<key.count where key[index] != other[index] { return false }
      return true
    }
  }

  /// Returns the kind of a declared type by SQLite's rules of affinity, and by customary names for types SQLite lacks.
  static func kind(declaredType: String) -> Kind {
    let type = declaredType.uppercased()
    if type.contains("INT") { return .integer }
    if type.contains("BOOL") { return .bool }
    if type.contains("DATE") || type.contains("TIME") { return .date }
    if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") { return .text }
    if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") { return .real }
    if type.contains("BLOB") { return .blob }
    return .any
  }
}
