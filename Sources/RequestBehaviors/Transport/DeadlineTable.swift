/// When something in flight has taken too long.
package struct TransferDeadline {
  /// Which of its times something has exceeded.
  package enum Expiry: Hashable {
    /// No byte in either direction for so long.
    case idle(Duration)
    /// Not over after so long.
    case total(Duration)
  }

  /// How long it may go without a byte; `nil` for ever, also while it is meant to rest.
  package var idle: Duration?
  /// When the last byte went one way or the other.
  package var lastActivity: Duration
  /// How long it may take in all; `nil` for ever.
  package var total: Duration?
  private let start: Duration

  /// Begins to watch something.
  package init(idle: Duration?, total: Duration?, start: Duration) {
    self.idle = idle
    self.total = total
    self.start = start
    lastActivity = start
  }

  /// The earliest moment at which one of its times is exceeded.
  package var deadline: Duration? {
    switch (idle, total) {
    case (let idle?, let total?): min(lastActivity + idle, start + total)
    case (let idle?, nil): lastActivity + idle
    case (nil, let total?): start + total
    case (nil, nil): nil
    }
  }

  /// Which of its times it has exceeded; `nil` for none.
  package func expiry(at now: Duration) -> Expiry? {
    if let total, now >= start + total { return .total(total) }
    if let idle, now >= lastActivity + idle { return .idle(idle) }
    return nil
  }
}

/// What is in flight, and when which of it has taken too long.
///
/// A deadline moves with every byte; so none is kept, only what it follows from.
package struct DeadlineTable<ID: Hashable> {
  package typealias Expiry = TransferDeadline.Expiry

  private typealias Entry = TransferDeadline

  private var entries: [ID: Entry] = [:]

  /// Creates an empty table.
  package init() {}

  /// What is in flight, with and without deadlines.
  package var ids: [ID] { Array(entries.keys) }

  /// Begins to watch something; returns its first deadline, `nil` if it has none.
  @discardableResult
  package mutating func insert(_ id: ID, idle: Duration?, total: Duration?, at now: Duration) -> Duration? {
    let entry = Entry(idle: idle, total: total, start: now)
    entries[id] = entry
    return entry.deadline
  }

  /// Notes that a byte went one way or the other.
  package mutating func touch(_ id: ID, at now: Duration) { entries[id]?.lastActivity = now }

  /// Lets something take as long as it takes, as long as bytes come.
  package mutating func endTotal(_ id: ID) { entries[id]?.total = nil }

  /// Ends watching something.
  package mutating func remove(_ id: ID) { entries[id] = nil }

  /// What has exceeded one of its times; takes time proportional to the number of entries.
  package func expired(at now: Duration) -> [ID: Expiry] { entries.compactMapValues { $0.expiry(at: now) } }

  /// The earliest deadline of all; takes time proportional to the number of entries.
  package var earliest: Duration? { entries.values.lazy.compactMap(\.deadline).min() }
}

extension TransferDeadline.Expiry {
  /// What to tell the caller.
  package var message: String {
    switch self {
    case .idle(let time): "no byte came or went for \(time); raise idleTimeout if the server may take longer"
    case .total(let time): "the send was not over after \(time); raise timeout if it may take longer"
    }
  }
}
