import RequestBehaviors

/// The records that have no entry yet, in the order in which their requests began.
struct FreshRecords {
  private var records: [CassetteRecord?]
  private let sketches: [RequestSketch]
  private let arePlayable: [Bool]
  /// The indices of the records by the place of their requests.
  private let places: [String: [Int]]

  init(_ records: [CassetteRecord], _ redaction: PlayableRedaction) {
    let sketches = records.map { record in
      redaction.sketch(
        method: record.method, url: record.url, fields: record.fields, body: record.body,
        contentType: record.contentType)
    }
    (self.records, self.sketches) = (records, sketches)
    arePlayable = records.map(\.isPlayable)
    places = Dictionary(grouping: sketches.indices) { sketches[$0].place }
  }

  /// Takes the first one whose request is that of an entry; `nil` if no record is like that.
  ///
  /// A record that is not playable is taken last, or it would keep an old entry beside the new one.
  mutating func take(likeness entry: RequestSketch, _ matching: CassetteMatching) -> CassetteRecord? {
    let indices = places[entry.place] ?? []
    func isLike(_ index: Int) -> Bool { records[index] != nil && sketches[index].matches(entry, matching) }
    let playable = indices.first { arePlayable[$0] && isLike($0) }
    guard let index = playable ?? indices.first(where: { !arePlayable[$0] && isLike($0) }) else { return nil }
    defer { records[index] = nil }
    return records[index]
  }

  /// Returns those that are left, by method, URL and body, because the order of concurrent requests differs each time.
  ///
  /// Requests of one kind keep their order: the k-th of them gets the k-th entry.
  func rest(_ matching: CassetteMatching) -> [CassetteRecord] {
    var kinds: [(key: [String], indices: [Int])] = []
    for indices in places.values {
      let first = kinds.count
      for index in indices where records[index] != nil {
        let key = sketches[index].order
        if let kind = kinds[first...].firstIndex(where: { sketches[$0.indices[0]].matches(sketches[index], matching) })
        {
          kinds[kind].indices.append(index)
          if key.lexicographicallyPrecedes(kinds[kind].key) { kinds[kind].key = key }
        } else {
          kinds.append((key, [index]))
        }
      }
    }
    return kinds.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap(\.indices).compactMap { records[$0] }
  }
}

extension RequestSketch {
  /// The text by which kinds of requests are sorted, the same in every run.
  fileprivate var order: [String] {
    let items = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    return [method, origin, path, items] + body.order
  }
}

extension RequestSketch.BodySketch {
  fileprivate var order: [String] {
    switch self {
    case .none: []
    case .json(let json): ["json", json.sorted.line]
    case .form(let pairs): ["form"] + pairs.flatMap { [$0.name, $0.value] }
    case .parts(let parts): ["parts"] + parts
    case .text(let text): ["text", text]
    case .bytes(let hash): ["bytes", hash]
    }
  }
}

extension OrderedJSON {
  /// The value with the members of its objects sorted by name.
  var sorted: OrderedJSON {
    switch self {
    case .object(let members):
      .object(members.map { Member($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
    case .array(let elements): .array(elements.map(\.sorted))
    default: self
    }
  }
}
