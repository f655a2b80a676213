/// What a call remembers of a session.
struct TokenRecord: Sendable {
  var ticket: TokenTicket
  var hasReplayed = false
}

private enum TokenRecords: CallKey {
  static let defaultValue: [TokenKeeper.ID: TokenRecord] = [:]
}

extension Call {
  /// Notes what had happened to the session when the call first came, and returns what is noted.
  ///
  /// A call belongs to whoever was signed in then: a retry must not send it as somebody else.
  func arrive(at keeper: TokenKeeper.ID, _ ticket: TokenTicket) -> TokenRecord {
    update(TokenRecords.self) { records in
      if let record = records[keeper] { return record }
      let record = TokenRecord(ticket: ticket)
      records[keeper] = record
      return record
    }
  }

  func tokenRecord(of keeper: TokenKeeper.ID) -> TokenRecord {
    self[TokenRecords.self][keeper] ?? TokenRecord(ticket: TokenTicket(generation: 0, failures: 0))
  }

  /// Notes who the call belongs to if somebody signed in while it waited.
  func bind(to lease: TokenLease, at keeper: TokenKeeper.ID) {
    update(TokenRecords.self) { records in
      guard let ticket = records[keeper]?.ticket, ticket.generation != lease.generation else { return }
      records[keeper]?.ticket = TokenTicket(generation: lease.generation, failures: ticket.failures)
    }
  }

  func hasReplayed(for keeper: TokenKeeper.ID) -> Bool { tokenRecord(of: keeper).hasReplayed }

  /// Notes a replay; false if there has been one.
  func beginReplay(for keeper: TokenKeeper.ID) -> Bool {
    update(TokenRecords.self) { records in
      guard records[keeper]?.hasReplayed == false else { return false }
      records[keeper]?.hasReplayed = true
      return true
    }
  }
}
