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
    // Real records have fewer keys. Beyond this number, new keys without a column are not remembered: each is compared
    // with all that are.
    guard child.column >= 0 || node.children.count < schema.columns.count + 64 else { return child }
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
