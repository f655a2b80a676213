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
    guard mode.records, state.withLock({ $0.records.contains(where: \.hasEnded) }) else { return }
    // All that is planned is read under the lock of the file: another call of this method may be writing.
    guard let plan = try file.locked({ try planAndWrite() }) else { return }
    file.note(written: plan.entries)
    guard plan.isOfNewFile else { return }
    CassetteTransport.warn(
      "recorded \(plan.entries.count) entries in \(file.name); names, addresses and other personal data in bodies are in it: "
        + "look through it, and hide what must not be there with sensitivePointers of the redactor")
  }

  /// Writes the file; `nil` if all that was recorded is in it.
  private func planAndWrite() throws -> CassetteFilePlan? {
    let (sent, played) = state.withLock { ($0.records, $0.secrets) }
    // The contents of a response under way are not known yet.
    let records = sent.filter(\.hasEnded)
    // What is secret to a response under way, or to a request that was played, may be in what has ended.
    let secrets = sent.reduce(into: played) { $0.formUnion($1.facts.secrets) }
    let isSaved = state.withLock { $0.saved.count == records.count && $0.savedSecrets == secrets }
    guard !records.isEmpty, !isSaved else { return nil }
    let redactor = redactor.hiding(Array(secrets))
    var plan = CassetteFilePlan(
      old: try file.read(PlayableRedaction(redactor, numbered: false)),
      loaded: state.withLock { $0.entries.all.map(\.json.line) }, known: state.withLock { $0.knownLines },
      records: records, mode: mode, matching: matching, redactor: redactor, ignored: ignored,
      folder: file.bodiesFolder)
    plan.isOfNewFile = !file.exists
    for (index, entry) in plan.written.enumerated() where redactor.hasHiddenValue(in: Data(entry.line.utf8)) {
      throw CassetteError(
        "\(file.name) was not written, because entry \(index + 1) of the new ones would hold a secret: "
          + "\(entry["request"]?["method"]?.text ?? "") \(redactor.redact(text: entry["request"]?["url"]?.text ?? ""))"
      )
    }
    for (name, body) in plan.bodies.files where redactor.hasHiddenValue(in: body) {
      throw CassetteError("\(file.name) was not written, because the body \(name) would hold a secret")
    }
    try file.write(plan.entries, plan.bodies, limit: sizeLimit)
    state.withLock { state in
      state.saved.formUnion(records.map { ObjectIdentifier($0) })
      state.savedSecrets = secrets
      state.knownLines.formUnion(plan.entries.map(\.line).filter { !plan.foreignLines.contains($0) })
    }
    return plan
  }
}
