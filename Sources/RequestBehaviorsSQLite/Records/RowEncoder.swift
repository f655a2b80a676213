import Foundation

/// An encoder that binds records directly to the parameters of a prepared statement.
final class RowEncoder: Encoder {
  // The plan owns its encoder. A record that keeps the encoder may outlive the plan.
  private weak var plan: RecordPlan?
  let binder: RowBinder
  let present = PresentColumns()
  let recordType: String
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  var isComposite = false
  private var refusal: String?
  private var cached: (type: ObjectIdentifier, box: AnyObject)?

  init(plan: RecordPlan, binder: RowBinder, recordType: String) {
    self.plan = plan
    self.binder = binder
    self.recordType = recordType
  }

  /// Binds the record's properties.
  func encode(_ record: some Encodable) throws {
    refusal = nil
    present.begin()
    do { try record.encode(to: self) } catch is ColumnEncoding.IsComposite {}
    if let refusal { throw unsupported(refusal) }
  }

  /// Returns the index of a property's column, or nil as long as the statement lacks it.
  func column(for property: String) throws -> Int32? {
    guard let plan else { throw SQLiteError(.misuse, "the encoder was used after its save; encode all in encode(to:)") }
    let column = try plan.column(for: property, of: recordType)
    return plan.isStale && column >= 0 ? nil : column
  }

  func refuse(_ what: String) { if refusal == nil { refusal = what } }

  private func unsupported(_ what: String) -> SQLiteError {
    SQLiteError(
      .mismatch,
      "\(recordType) encodes itself with \(what), which has no place in a row; "
        + "make it a property that is a Codable type of its own")
  }

  /// Releases the container, which refers back to the encoder.
  func forget() {
    cached = nil
    binder.statement = nil
  }

  // MARK: Encoder

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let id = ObjectIdentifier(Key.self)
    // The box of a key type is always of that type. A checked cast would cost 8 % of a row of a large save.
    if let cached, cached.type == id { return unsafeDowncast(cached.box, to: Box<Key>.self).container }
    let box = Box<Key>(encoder: self)
    cached = (id, box)
    return box.container
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    refuse("an array at its top level")
    return RefusingEncoding()
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    refuse("a single value at its top level")
    return RefusingEncoding()
  }

  /// A box that keeps a container between records, because making one allocates.
  private final class Box<Key: CodingKey> {
    let container: KeyedEncodingContainer<Key>

    init(encoder: RowEncoder) {
      container = KeyedEncodingContainer(RowKeyedEncoding<Key>(encoder: encoder, table: KeyTable(Key.self)))
    }
  }
}

extension RowEncoder {
  /// Binds a value of a type that is not one of the standard library's primitives.
  func bind<T: Encodable>(_ value: T, _ column: Int32) throws {
    // Comparing metatypes is several times faster than a chain of casts. In each branch the two types are the same.
    if T.self == Date.self { return try binder.bind(unsafeBitCast(value, to: Date.self), column) }
    if T.self == UUID.self { return try binder.bind(unsafeBitCast(value, to: UUID.self), column) }
    if T.self == Data.self { return try binder.bind(unsafeBitCast(value, to: Data.self), column) }
    if T.self == [UInt8].self {
      return try unsafeBitCast(value, to: [UInt8].self).withUnsafeBytes { try binder.bind(blob: $0, column) }
    }
    if T.self == URL.self, let url = value as? URL { return try binder.bind(url.absoluteString, column) }
    if T.self == Decimal.self, let decimal = value as? Decimal {
      guard !decimal.isNaN else { throw SQLiteError.notANumber }
      return try binder.bind(decimal.description, column)
    }
    try bindEncoded(value, column)
  }
}
