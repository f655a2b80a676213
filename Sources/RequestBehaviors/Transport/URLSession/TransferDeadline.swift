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

extension TransferDeadline.Expiry {
  /// The message for the caller.
  package var message: String {
    switch self {
    case .idle(let time): "no byte came or went for \(time); raise idleTimeout if the server may take longer"
    case .total(let time): "the send was not over after \(time); raise timeout if it may take longer"
    }
  }
}
