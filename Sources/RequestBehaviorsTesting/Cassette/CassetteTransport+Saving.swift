import Foundation
import RequestBehaviors

extension CassetteTransport {
  /// Writes what was recorded; does nothing in the modes that do not record.
  ///
  /// Entries keep their places, and new ones follow by method, URL and body, so that the order of concurrent requests
  /// does not show. An entry whose request, status, lasting fields and body are as before is not changed: recording an
  /// unchanged server again changes no byte.
  ///
  /// - Throws: ``CassetteError`` if a secret would be written or the file would be too large, and the errors of the
  ///   file system. The file is then as before.
  public func save() throws {
    guard mode.records else { return }
    // What a response under way will hold, and which secrets, is not known yet.
    let records = state.withLock { $0.records }.filter(\.hasEnded)
    let secrets = records.reduce(into: Set<String>()) { $0.formUnion($1.facts.secrets) }
    let isSaved = state.withLock { $0.saved.count == records.count && $0.savedSecrets == secrets }
    guard !records.isEmpty, !isSaved else { return }
    let isNew = !file.exists
    let redactor = redactor.hiding(Array(secrets))
    let plan = try file.locked { () throws -> CassettePlan in
      let plan = CassettePlan(
        old: try file.read(PlayableRedaction(redactor, numbered: false)),
        loaded: state.withLock { Set($0.entries.all.map(\.json.line)) }, known: state.withLock { $0.knownLines },
        records: records, mode: mode, matching: matching, redactor: redactor, ignored: ignored,
        folder: file.bodiesFolder)
      for (index, entry) in plan.written.enumerated()
      where redactor.hasHiddenValue(in: Data(entry.line.utf8)) {
        throw CassetteError(
          "\(file.name) was not written, because entry \(index + 1) of the new ones would hold a secret: "
            + "\(entry["request"]?["method"]?.text ?? "") \(redactor.redact(text: entry["request"]?["url"]?.text ?? ""))"
        )
      }
      for (name, body) in plan.bodies.files where redactor.hasHiddenValue(in: body) {
        throw CassetteError("\(file.name) was not written, because the body \(name) would hold a secret")
      }
      try file.write(plan.entries, plan.bodies, limit: sizeLimit)
      return plan
    }
    state.withLock { state in
      state.saved.formUnion(records.map { ObjectIdentifier($0) })
      state.savedSecrets = secrets
      state.knownLines.formUnion(plan.entries.map(\.line).filter { !plan.foreignLines.contains($0) })
    }
    file.note(written: plan.entries)
    guard isNew else { return }
    CassetteTransport.warn(
      "recorded \(plan.entries.count) entries in \(file.name); names, addresses and other personal data in bodies are in it: "
        + "look through it, and hide what must not be there with sensitivePointers of the redactor")
  }
}

/// The entries of a file after recording.
struct CassettePlan {
  /// All entries in the order of the file.
  private(set) var entries: [OrderedJSON] = []
  /// Those that were recorded now.
  private(set) var written: [OrderedJSON] = []
  private(set) var bodies: CassetteBodies
  /// The lines of those that another test or process wrote, and that no request of this one asked for.
  private(set) var foreignLines: Set<String> = []
  private let ignored: Set<String>

  /// Plans the file; `loaded` are the lines of the entries that were there when the transport was made, and `known`
  /// those of its own: another test or process wrote the others.
  init(
    old: [CassetteEntry], loaded: Set<String>, known: Set<String>, records: [CassetteRecord], mode: CassetteMode,
    matching: CassetteMatching, redactor: Redactor, ignored: Set<String>, folder: String
  ) {
    bodies = CassetteBodies(folder: folder)
    self.ignored = ignored
    let plain = PlayableRedaction(redactor, numbered: false)
    var fresh = FreshRecords(records, plain)
    let isAll = mode == .recordAll
    let last = isAll ? 0 : CassettePlan.lastNumber(in: old)
    let redaction = PlayableRedaction(redactor, numbered: true, after: last)
    for entry in old {
      // What was recorded meanwhile stays, and is not recorded twice.
      let line = entry.json.line
      guard isAll || !loaded.contains(line) else {
        entries.append(entry.json)
        continue
      }
      guard let record = fresh.take(likeness: entry.sketch, matching) else {
        // The record of an entry of this transport is added below.
        guard !known.contains(line) else { continue }
        foreignLines.insert(line)
        entries.append(entry.json)
        continue
      }
      // An entry of this transport is written anew, because its call may have learnt a secret since.
      if isAll || known.contains(line) { add(record, redaction, insteadOf: entry) } else { entries.append(entry.json) }
    }
    for record in fresh.rest(matching) { add(record, redaction, insteadOf: nil) }
  }

  private mutating func add(
    _ record: CassetteRecord, _ redaction: PlayableRedaction, insteadOf old: CassetteEntry?
  ) {
    guard let json = record.entry(redaction, &bodies) else {
      if let old { entries.append(old.json) }
      return
    }
    written.append(json)
    entries.append(old.map { sticky(json, insteadOf: $0, redaction) } ?? json)
  }

  /// Returns what takes the place of an entry: the entry itself if the server sends the same as before.
  private func sticky(
    _ json: OrderedJSON, insteadOf old: CassetteEntry, _ redaction: PlayableRedaction
  ) -> OrderedJSON {
    guard let new = try? CassetteEntry(json, number: old.number, in: "", redaction) else { return json }
    let isSame = new.lasting(ignoring: ignored) == old.lasting(ignoring: ignored)
    return isSame ? old.json : new.keepingTimes(of: old, ignoring: ignored)
  }

  /// The largest number of a placeholder in the file.
  private static func lastNumber(in entries: [CassetteEntry]) -> Int {
    entries.flatMap { RedactionPlaceholders.pieces(of: $0.json.line) }.compactMap(\.number).max() ?? 0
  }
}
