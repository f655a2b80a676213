/// The transfers in flight, with their time limits.
///
/// A deadline moves with every byte. So the table keeps only the values from which it computes a deadline.
package struct DeadlineTable<ID: Hashable & Sendable>: Sendable {
  package typealias Expiry = TransferDeadline.Expiry

  private typealias Entry = TransferDeadline

  private var entries: [ID: Entry] = [:]

  /// Creates an empty table.
  package init() {}

  /// The transfers in flight, with and without deadlines.
  package var ids: [ID] { Array(entries.keys) }

  /// Begins to watch a transfer, and returns its first deadline; `nil` if it has none.
  @discardableResult
  package mutating func insert(_ id: ID, idle: Duration?, total: Duration?, at now: Duration) -> Duration? {
    let entry = Entry(idle: idle, total: total, start: now)
    entries[id] = entry
    return entry.deadline
  }

  /// Records that a byte was sent or received.
  package mutating func touch(_ id: ID, at now: Duration) { entries[id]?.lastActivity = now }

  /// Removes the total limit of a transfer.
  ///
  /// Its idle limit stays.
  package mutating func endTotal(_ id: ID) { entries[id]?.total = nil }

  /// Ends watching a transfer.
  package mutating func remove(_ id: ID) { entries[id] = nil }

  /// Returns the transfers that have exceeded a limit, in time proportional to the number of entries.
  package func expired(at now: Duration) -> [ID: Expiry] { entries.compactMapValues { $0.expiry(at: now) } }

  /// The earliest deadline of all, computed in time proportional to the number of entries.
  package var earliest: Duration? { entries.values.lazy.compactMap(\.deadline).min() }
}
