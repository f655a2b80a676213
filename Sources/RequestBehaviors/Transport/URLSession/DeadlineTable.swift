/// The time limits of a transfer.
package struct TransferDeadline: Sendable {
  /// The time limit that a transfer has exceeded.
  package enum Expiry: Hashable {
    /// No byte was sent or received for this time.
    case idle(Duration)
    /// The transfer had not ended after this time.
    case total(Duration)
  }

  /// How long the transfer may go without a byte; `nil` for no limit, also while it is paused.
  package var idle: Duration?
  /// When the last byte was sent or received.
  package var lastActivity: Duration
  /// How long the transfer may take in total; `nil` for no limit.
  package var total: Duration?
  private let start: Duration

  /// Creates the limits of a transfer that starts.
  package init(idle: Duration?, total: Duration?, start: Duration) {
    self.idle = idle
    self.total = total
    self.start = start
    lastActivity = start
  }

  /// The earliest moment at which a limit is exceeded; `nil` if there is no limit.
  package var deadline: Duration? {
    switch (idle, total) {
    case (let idle?, let total?): min(lastActivity + idle, start + total)
    case (let idle?, nil): lastActivity + idle
    case (nil, let total?): start + total
    case (nil, nil): nil
    }
  }

  /// Returns the limit that the transfer has exceeded; `nil` if it has exceeded no limit.
  package func expiry(at now: Duration) -> Expiry? {
    if let total, now >= start + total { return .total(total) }
    if let idle, now >= lastActivity + idle { return .idle(idle) }
    return nil
  }
}

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

extension TransferDeadline.Expiry {
  /// The message for the caller.
  package var message: String {
    switch self {
    case .idle(let time): "no byte came or went for \(time); raise idleTimeout if the server may take longer"
    case .total(let time): "the send was not over after \(time); raise timeout if it may take longer"
    }
  }
}
