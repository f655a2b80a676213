import Foundation
import RequestBehaviors

/// Treats the entries of users who have left.
extension OutboxCore {
  /// Treats the entries of an owner who has left.
  ///
  /// A service whose token a server refuses stays the owner of its calls, and has not left.
  func ownerEnded(_ ended: String) async {
    _ = try? await refreshOwners()
    if members.contains(where: { $0.isOfSession && $0.scope == ended }) { return signal.raise() }
    do {
      if settings.atSignOut == .discard {
        noteEnded(ended)
        try await discardEnded()
      } else if !mayReturn(ended) {
        let owners = try await ownersOfAll()
        for owner in owners where OutboxScopes.contains(ended, in: owner.scope) { try await bury(owner.scope) }
      }
    } catch {
      tell(OutboxEvent(.failed, message: "the entries of a user who has left could not be changed", error: error))
    }
    signal.raise()
  }

  /// Discards the entries of owners who have left since the outbox was opened, as far as that is still to be done.
  ///
  /// - Throws: The error of the file. Then it is to be called again.
  func discardEnded() async throws {
    for (ended, number) in endedOwners {
      if try await ownersOfAll().contains(where: { OutboxScopes.contains(ended, in: $0.scope) }) {
        // Another task may have done it, and the user may be back and have new entries.
        try await discard { OutboxScopes.contains(ended, in: $0.scope) && self.endedOwners[ended] == number }
      }
      forgetEnded(ended, number)
    }
  }

  /// Returns the owners of entries that are not delivered, those too whose transaction is under way.
  ///
  /// It checked that the user was there, who may have left since. A read does not see its entry, and a write waits.
  private func ownersOfAll() async throws -> [OutboxOwner] {
    try await store.write(durability: .normal) { try self.table($0).owners() }
  }

  /// Discards the entries of users who left while no outbox was open, or in another process.
  ///
  /// - Parameter readSessions: Reads again who is signed in; returns whether all sessions could be read.
  /// - Returns: False if it is not known whether users have left, because a token store could not be read.
  /// - Throws: The error of the file.
  func discardLeft(readingBy readSessions: () async -> Bool) async throws -> Bool {
    guard settings.atSignOut == .discard else { return true }
    let (owners, last) = try await store.read { db in (try self.table(db).owners(), try self.table(db).last()) }
    guard owners.contains(where: { $0.hasLeft(members) }) else { return true }
    // A user whom another process has signed in has not left, and the session may not know of that yet.
    guard await readSessions() else { return false }
    try await refreshOwners()
    // Nor may it know of a user who has been signed in there since, and whose entries are later ones.
    if owners.contains(where: { $0.hasLeft(members) }) { try await discard(upTo: last) { $0.hasLeft(self.members) } }
    return true
  }

  /// Removes the entries of owners, dead letters too, and overwrites them in the file.
  ///
  /// - Parameters:
  ///   - last: The number of the last entry that is removed.
  ///   - isGone: Returns whether an owner's entries are removed. It is asked within the transaction, because a user who
  ///     signs in before that can have new entries.
  /// - Throws: The error of the file.
  func discard(upTo last: Int64 = .max, _ isGone: @escaping @Sendable (OutboxOwner) -> Bool) async throws {
    try await store.writeErasing(durability: .full, emptiesLog: true) { db in
      let table = self.table(db)
      for owner in try table.owners() where isGone(owner) {
        let (ids, unused) = try table.removeAll(of: owner, upTo: last)
        try db.afterCommit {
          self.files?.remove(unused)
          for id in ids { self.tickets.wake(id) }
        }
      }
    }
  }
}
