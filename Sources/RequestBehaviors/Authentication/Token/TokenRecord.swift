/// What a call remembers of a session.
struct TokenRecord: Sendable {
  var ticket: TokenTicket
  var hasReplayed = false
}

extension Call {
  /// Notes what had happened to the session when the call first came, and returns what is noted.
  ///
  /// A call belongs to whoever was signed in then: a retry must not send it as somebody else.
  func arrive(at keeper: TokenKeeper.ID, _ ticket: TokenTicket) -> TokenRecord {
    update(keeper, initially: TokenRecord(ticket: ticket)) { $0 }
  }

  func tokenRecord(of keeper: TokenKeeper.ID) -> TokenRecord { updateRecord(of: keeper) { $0 } }

  /// Notes who the call belongs to if somebody signed in while it waited.
  func bind(to lease: TokenLease, at keeper: TokenKeeper.ID) {
    updateRecord(of: keeper) { record in
      record.ticket = TokenTicket(generation: lease.generation, failures: record.ticket.failures)
    }
  }

  func hasReplayed(for keeper: TokenKeeper.ID) -> Bool { tokenRecord(of: keeper).hasReplayed }

  /// Notes a replay; false if there has been one.
  func beginReplay(for keeper: TokenKeeper.ID) -> Bool {
    updateRecord(of: keeper) { record in
      defer { record.hasReplayed = true }
      return !record.hasReplayed
    }
  }

  private func updateRecord<Result>(of keeper: TokenKeeper.ID, _ change: (inout TokenRecord) -> Result) -> Result {
    // A call has arrived before anything else is noted of it.
    update(keeper, initially: TokenRecord(ticket: TokenTicket(generation: 0, failures: 0)), change)
  }
}
