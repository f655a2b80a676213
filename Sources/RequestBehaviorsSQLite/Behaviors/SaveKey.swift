import RequestBehaviors

/// The part that two saves have in common if the later one replaces what the earlier one has saved.
///
/// They are saves by the same behavior, or an equal one, of responses to the same GET of the same user.
struct SaveKey: Hashable, Sendable {
  private let owner: SharingKey
  private let url: String
  private let fields: [String]
  private let decodingPath: String?
  private var target: SaveTarget

  /// Creates the key of a request.
  ///
  /// It is `nil` for other methods: of two requests that change something, each has a response of its own. It is also
  /// `nil` if the owner of the response is not known.
  init?(_ request: NetworkRequest, at place: Next, _ target: SaveTarget) {
    guard request.method == .get, request.body == nil, let owner = place.sharingKey(for: request, named: "save") else {
      return nil
    }
    self.owner = owner
    self.target = target
    url = request.url.normalizedText
    decodingPath = request.options.decodingPath
    // The owner's part compares the secrets.
    let fields = Array(request.headers) + Array(request.options.environment?.headers ?? HeaderFields())
    self.fields = fields.filter { !$0.isSecret }.map { (name: $0.name.lowercased(), value: $0.value) }
      .filter { !SharingKey.defaultIgnoredFields.contains($0.name) }.map { "\($0.name):\($0.value)" }.sorted()
  }

  /// The key for all saves of a kind, whatever their closures do.
  var ofKind: SaveKey {
    var key = self
    key.target.closure = nil
    return key
  }
}

/// The rows that a ``SaveBehavior`` saves, as far as they can be compared.
struct SaveTarget: Hashable, Sendable {
  /// The type of the records, of the value or of the saver.
  private let type: ObjectIdentifier?
  /// The table, paths and rows.
  private let place: [String]
  /// The values of the condition for the rows that are deleted; `nil` for one that cannot be stored.
  private let values: [SQLValue?]
  /// The identity of a closure, or of a saver; `nil` if the rest says it all.
  var closure: Closure?

  /// The identity of a closure, which is that of the behavior that was made with it.
  final class Closure: Hashable, Sendable {
    static func == (one: Closure, other: Closure) -> Bool { one === other }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  /// Creates the target of a behavior that saves into a table; all with equal arguments save the same.
  ///
  /// - Parameters:
  ///   - type: The type of the records; `nil` if they are not decoded.
  ///   - path: The path to the records; `nil` for that of the request.
  ///   - table: The table.
  ///   - rest: Everything else that makes a difference; nothing by default.
  ///   - scope: The rows that are deleted unless they are saved; none by default.
  init(
    _ type: Any.Type?, at path: String?, into table: SQLiteTable, _ rest: String = "",
    deletingOthers scope: SQLiteScope? = nil
  ) {
    self.type = type.map { ObjectIdentifier($0) }
    place =
      [table.name, table.key.joined(separator: ","), rest, scope?.condition.text ?? ""] + (path.map { [$0] } ?? [])
    values = scope?.condition.arguments.map { try? $0.sqlValue() } ?? []
  }

  /// Creates the target of a behavior that saves by a closure for a type, or by a saver of the type.
  init(closureFor type: Any.Type) {
    self.type = ObjectIdentifier(type)
    place = []
    values = []
    closure = Closure()
  }
}
