/// When which transfer has taken too long.
///
/// A deadline moves with every byte; so none is kept, only what it follows from.
struct DeadlineTable<ID: Hashable> {
  /// Which of its times a transfer has exceeded.
  enum Expiry: Equatable {
    /// No byte in either direction for so long.
    case idle(Duration)
    /// Not over after so long.
    case total(Duration)
  }

  private struct Entry {
    let idle: Duration?
    let total: Duration?
    let start: Duration
    var lastActivity: Duration

    var deadline: Duration? {
      switch (idle, total) {
      case (let idle?, let total?): min(lastActivity + idle, start + total)
      case (let idle?, nil): lastActivity + idle
      case (nil, let total?): start + total
      case (nil, nil): nil
      }
    }
  }

  private var entries: [ID: Entry] = [:]

  /// Begins to watch a transfer; returns its first deadline, `nil` if it has none.
  @discardableResult
  mutating func insert(_ id: ID, idle: Duration?, total: Duration?, at now: Duration) -> Duration? {
    guard idle != nil || total != nil else { return nil }
    let entry = Entry(idle: idle, total: total, start: now, lastActivity: now)
    entries[id] = entry
    return entry.deadline
  }

  /// Notes that a byte went one way or the other.
  mutating func touch(_ id: ID, at now: Duration) { entries[id]?.lastActivity = now }

  /// Ends watching a transfer.
  mutating func remove(_ id: ID) { entries[id] = nil }

  /// Which time a transfer has exceeded; `nil` if none, or if it is not watched.
  func expiry(of id: ID, at now: Duration) -> Expiry? {
    guard let entry = entries[id] else { return nil }
    if let total = entry.total, now >= entry.start + total { return .total(total) }
    if let idle = entry.idle, now >= entry.lastActivity + idle { return .idle(idle) }
    return nil
  }

  /// The earliest deadline of all; takes time proportional to their number.
  var earliest: Duration? { entries.values.lazy.compactMap(\.deadline).min() }
}

extension DeadlineTable.Expiry {
  /// What to tell the caller.
  var message: String {
    switch self {
    case .idle(let time): "no byte came or went for \(time); raise idleTimeout if the server may take longer"
    case .total(let time): "the send was not over after \(time); raise timeout if it may take longer"
    }
  }
}
