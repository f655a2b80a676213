/// What a call remembers of a session.
struct TokenRecord: Sendable {
  /// Whose call it is.
  var generation: Int
  /// How many flights had failed when the call came to need a token; `nil` before that.
  var failures: Int?
  var hasReplayed = false
  /// The field whose token is checked before every send.
  var checkedField: String?
  /// What this session set the field to; another session may have set it to something else since.
  var fieldValue: String?
}

/// What a call remembers of its sessions, by their keepers.
private enum TokenRecords: CallKey {
  static let defaultValue: [TokenKeeper.ID: TokenRecord] = [:]
}

extension Call {
  /// Notes who was signed in when the call began.
  ///
  /// Its answer is kept as theirs, so that it must not be sent as somebody else's.
  func belong(to generation: Int, at keeper: TokenKeeper.ID) {
    update(TokenRecords.self) { if $0[keeper] == nil { $0[keeper] = TokenRecord(generation: generation) } }
  }

  /// Notes what had happened to the session when the call first came, and returns what is noted.
  ///
  /// A call belongs to whoever was signed in when it began: neither it nor a retry may be sent as somebody else. One
  /// that began when nobody was belongs to whoever is when it first comes, also where that turned out only when the
  /// store was read.
  func arrive(at keeper: TokenKeeper.ID, _ arrival: TokenKeeper.Arrival) -> TokenTicket {
    update(TokenRecords.self) { records in
      let ticket = arrival.ticket
      var record = records[keeper] ?? TokenRecord(generation: ticket.generation)
      if record.failures == nil, record.generation == arrival.emptyGeneration { record.generation = ticket.generation }
      let failures = record.failures ?? ticket.failures
      record.failures = failures
      records[keeper] = record
      return TokenTicket(generation: record.generation, failures: failures)
    }
  }

  /// What was noted when the call came.
  func tokenTicket(of keeper: TokenKeeper.ID) -> TokenTicket {
    updateRecord(of: keeper) { TokenTicket(generation: $0.generation, failures: $0.failures ?? 0) }
  }

  /// Notes who the call belongs to if somebody signed in while it waited.
  func bind(to lease: TokenLease, at keeper: TokenKeeper.ID) {
    updateRecord(of: keeper) { $0.generation = lease.generation }
  }

  /// Adds the last check of a token, once for a field: nothing is sent with a token whose user has gone.
  func checkToken(_ value: String, in field: String, of keeper: TokenKeeper) {
    let isChecked = updateRecord(of: keeper.id) { record in
      record.fieldValue = value
      defer { record.checkedField = field }
      return record.checkedField == field
    }
    if isChecked { return }
    addSendCheck { request in
      guard keeper.generation != request.call.tokenTicket(of: keeper.id).generation else { return }
      let own = request.call.updateRecord(of: keeper.id) { $0.fieldValue }
      if let sent = request.headers.field(named: field)?.value, sent == own { throw NetworkError.signedOut() }
    }
  }

  func hasReplayed(for keeper: TokenKeeper.ID) -> Bool { updateRecord(of: keeper) { $0.hasReplayed } }

  /// Notes a replay; false if there has been one.
  func beginReplay(for keeper: TokenKeeper.ID) -> Bool {
    updateRecord(of: keeper) { record in
      defer { record.hasReplayed = true }
      return !record.hasReplayed
    }
  }

  private func updateRecord<Result>(of keeper: TokenKeeper.ID, _ change: (inout TokenRecord) -> Result) -> Result {
    update(TokenRecords.self) { records in
      // A call has arrived before anything else is noted of it.
      var record = records[keeper] ?? TokenRecord(generation: 0)
      defer { records[keeper] = record }
      return change(&record)
    }
  }
}
