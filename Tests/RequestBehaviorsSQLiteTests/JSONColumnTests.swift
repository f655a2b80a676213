import RequestBehaviorsSQLite
import Testing

/// A value that an API sends as the number of a user or as the whole user.
private enum Owner: Codable, Equatable {
  case id(String)
  case user(User)

  struct User: Codable, Equatable {
    var id: Int
    var name: String?
  }

  init(from decoder: any Decoder) throws {
    if let user = try? User(from: decoder) {
      self = .user(user)
    } else {
      self = .id(try decoder.singleValueContainer().decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .user(let user): try user.encode(to: encoder)
    case .id(let id):
      var container = encoder.singleValueContainer()
      try container.encode(id)
    }
  }
}

/// Any JSON value; strings are tried before objects.
private enum JSONValue: Codable, Equatable {
  case string(String)
  case number(Double)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let string = try? container.decode(String.self) {
      self = .string(string)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let array = try? container.decode([JSONValue].self) {
      self = .array(array)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .string(let string): try container.encode(string)
    case .number(let number): try container.encode(number)
    case .array(let array): try container.encode(array)
    case .object(let object): try container.encode(object)
    }
  }
}

/// A text that keeps the type of its owner apart.
private struct Tagged: Codable, Equatable {
  var text: String
  init(_ text: String) { self.text = text }
  init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// Values that are a single one or more than that, and texts that look like JSON.
@Suite(.limited) struct JSONColumnTests {
  private struct Row<Value: Codable & Equatable>: Codable, Equatable {
    var x: Value
    var y: Value?
  }

  private func readBack<Value: Codable & Equatable>(_ value: Value) throws -> Row<Value>? {
    let store = try TestStore.inMemory("CREATE TABLE t (x, y)")
    try store.writeAndWait { _ = try $0.save(Row(x: value, y: value), into: "t") }
    return try store.readAndWait { try $0.first("SELECT * FROM t", as: Row<Value>.self) }
  }

  @Test func `a string or object value is read with its original type`() throws {
    for owner in [Owner.id("7"), .id("{"), .id("[x]"), .user(.init(id: 1)), .user(.init(id: 1, name: "n"))] {
      #expect(try readBack(owner) == Row(x: owner, y: owner))
    }
  }

  @Test func `any JSON value is read with its original type`() throws {
    let values: [JSONValue] = [
      .string("text"), .string(""), .string("{"), .number(1.5), .array([]), .object([:]),
      .array([.string("a"), .number(1)]), .object(["a": .array([.object(["b": .string("c")])])]),
    ]
    for value in values { #expect(try readBack(value) == Row(x: value, y: value)) }
  }

  @Test(arguments: [#"{"id":1}"#, "[1]", "{", "[", " {}", ""])
  func `a text that looks like JSON is read as a text if the type allows nothing else`(text: String) throws {
    #expect(try readBack(text) == Row(x: text, y: text))
    #expect(try readBack(Tagged(text)) == Row(x: Tagged(text), y: Tagged(text)))
  }

  @Test func `the error for JSON of the wrong shape names the problem`() throws {
    let store = try TestStore.inMemory(#"CREATE TABLE t (x, y); INSERT INTO t VALUES ('{"name":"n"}', NULL)"#)
    let error = #expect(throws: DecodingError.self) {
      try store.readAndWait { try $0.first("SELECT * FROM t", as: Row<Owner.User>.self) }
    }
    #expect(error.map { "\($0)" }?.contains("id") == true)
  }
}
