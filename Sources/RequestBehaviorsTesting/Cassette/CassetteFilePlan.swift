import Foundation
import RequestBehaviors

/// The entries of a file after recording.
struct CassetteFilePlan {
  /// All entries in the order of the file.
  private(set) var entries: [OrderedJSON] = []
  /// The entries that were recorded now.
  private(set) var written: [OrderedJSON] = []
  private(set) var bodies: CassetteBodies
  /// The lines of entries that another test or process wrote, and that no request of this one used.
  private(set) var foreignLines: Set<String> = []
  /// Whether there was no file before.
  var isOfNewFile = false
  private let ignored: Set<String>
  private let redactor: Redactor

  /// Plans the file; `loaded` are the lines of the entries that were there when the transport was made, and `known`
  /// those of its own: another test or process wrote the others.
  init(
    old: [CassetteEntry], loaded: [String], known: Set<String>, records: [CassetteRecord], mode: CassetteMode,
    matching: CassetteMatching, redactor: Redactor, ignored: Set<String>, folder: String
  ) {
    bodies = CassetteBodies(folder: folder)
    (self.ignored, self.redactor) = (ignored, redactor)
    let plain = PlayableRedaction(redactor, numbered: false)
    var fresh = FreshRecords(records, plain)
    let isAll = mode == .recordAll
    let last = isAll ? 0 : CassetteFilePlan.lastNumber(in: old)
    let redaction = PlayableRedaction(redactor, numbered: true, after: last)
    // One that was recorded now may have the same line as one of these.
    var loadedCounts = Dictionary(loaded.map { ($0, 1) }, uniquingKeysWith: +)
    for entry in old {
      // Entries that were recorded meanwhile stay, and are not recorded twice.
      let line = entry.json.line
      if !isAll, let count = loadedCounts[line], count > 0 {
        loadedCounts[line] = count - 1
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
    guard let old else { return entries.append(json) }
    let kept = sticky(json, insteadOf: old, redaction)
    // A call may have learnt since that a value of the older entry is a secret.
    entries.append(redactor.hasHiddenValue(in: Data(kept.line.utf8)) ? json : kept)
  }

  /// Returns what takes the place of an entry: the entry itself if the server sends the same as before.
  private func sticky(
    _ json: OrderedJSON, insteadOf old: CassetteEntry, _ redaction: PlayableRedaction
  ) -> OrderedJSON {
    guard let new = try? CassetteEntry(json, number: old.number, in: "", redaction) else { return json }
    let isSame = new.lasting(ignoring: ignored) == old.lasting(ignoring: ignored)
    return isSame ? old.json : new.keepingTimes(of: old, ignoring: ignored)
  }

  /// The largest number of a placeholder in the file; longer ones than a placeholder has are text of a server.
  private static func lastNumber(in entries: [CassetteEntry]) -> Int {
    entries.flatMap { RedactionPlaceholders.pieces(of: $0.json.line) }.compactMap(\.number)
      .filter { $0 < 1_000_000_000_000 }.max() ?? 0
  }
}
