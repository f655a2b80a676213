/// What a call remembers of a session.
struct TokenRecord: Sendable {
  /// Which session it is.
  let coordinator: TokenCoordinator.ID
  /// Whose call it is.
  var generation: Int
  /// How many refreshes had failed when the call came to need a token; `nil` before that.
  var failures: Int?
  var hasReplayed = false
  /// The field whose token is checked before every send.
  var checkedField: String?
  /// The tokens that the call got, by the values of their field: sends under way at once may have several of them, and
  /// another session may have set the field to something else since.
  var tokens: [(value: String, issued: IssuedToken)] = []
}

extension TokenRecord {
  /// Notes a token that is sent.
  fileprivate mutating func note(_ issued: IssuedToken, as value: String) {
    // The same token may be another object: one that was waited for is marked so.
    tokens.removeAll { $0.value == value }
    tokens.append((value, issued))
  }
}

/// What a call remembers of its sessions, of which most have one.
private enum TokenRecords: CallKey {
  static let defaultValue: [TokenRecord] = []
}

extension [TokenRecord] {
  /// Returns the place of what is remembered of a session, which begins with a user where nothing is.
  fileprivate mutating func place(of coordinator: TokenCoordinator.ID, beginningWith generation: Int) -> Int {
    if let place = firstIndex(where: { $0.coordinator == coordinator }) { return place }
    append(TokenRecord(coordinator: coordinator, generation: generation))
    return count - 1
  }
}

extension Call {
  /// Notes who was signed in when the call began.
  ///
  /// Its response is kept as theirs, so that it must not be sent as somebody else's.
  func noteUser(_ generation: Int, of coordinator: TokenCoordinator.ID) {
    update(TokenRecords.self) { _ = $0.place(of: coordinator, beginningWith: generation) }
  }

  /// Notes what had happened to the session when the call first came, and returns what is noted.
  ///
  /// A call belongs to whoever was signed in when it began: neither it nor a retry may be sent as somebody else. One
  /// that began when nobody was belongs to whoever is when it first comes, also where that turned out only when the
  /// store was read.
  func note(_ lookup: TokenCoordinator.Lookup, of coordinator: TokenCoordinator.ID) -> SessionSnapshot {
    update(TokenRecords.self) { records in
      let snapshot = lookup.snapshot
      let place = records.place(of: coordinator, beginningWith: snapshot.generation)
      if records[place].failures == nil, records[place].generation == lookup.emptyGeneration {
        records[place].generation = snapshot.generation
      }
      let failures = records[place].failures ?? snapshot.failures
      records[place].failures = failures
      return SessionSnapshot(generation: records[place].generation, failures: failures)
    }
  }

  /// What was noted when the call came.
  func sessionSnapshot(of coordinator: TokenCoordinator.ID) -> SessionSnapshot {
    updateRecord(of: coordinator) { SessionSnapshot(generation: $0.generation, failures: $0.failures ?? 0) }
  }

  /// Notes who the call belongs to if somebody signed in while it waited.
  func bind(to issued: IssuedToken, at coordinator: TokenCoordinator.ID) {
    updateRecord(of: coordinator) { $0.generation = issued.generation }
  }

  /// Notes a token that the call is sent with.
  ///
  /// The first one of a field adds the last look at it. A request that waited in a limiter gets the newest token of its
  /// user. Nothing is sent with the token of a user who has gone, and who signs out waits for what is being handed over.
  ///
  /// - Parameters:
  ///   - issued: The token.
  ///   - header: The field that carries it.
  ///   - origins: Where it may be sent.
  ///   - coordinator: The session.
  func noteToken(
    _ issued: IssuedToken, in header: TokenHeader, for origins: OriginScope, of coordinator: TokenCoordinator
  ) {
    let isChecked = updateRecord(of: coordinator.id) { record in
      record.note(issued, as: header.value(of: issued))
      defer { record.checkedField = header.name }
      return record.checkedField == header.name
    }
    if isChecked { return }
    addHandOvers(coordinator.handOvers)
    addRenewal { request in
      guard let sent = request.call.token(sentIn: request.headers, header, of: coordinator.id),
        let newest = coordinator.newest(after: sent)
      else { return }
      let value = header.value(of: newest)
      request.call.updateRecord(of: coordinator.id) { $0.note(newest, as: value) }
      request.headers.set(header.name, value, sensitive: origins)
    }
    addSendCheck { request in
      guard coordinator.generation != request.call.sessionSnapshot(of: coordinator.id).generation else { return }
      if request.call.token(sentIn: request.headers, header, of: coordinator.id) != nil {
        throw NetworkError.signedOut()
      }
    }
  }

  /// The token of a session that a request carries; `nil` if its field holds none that the call got from it.
  func token(
    sentIn headers: HeaderFields, _ header: TokenHeader, of coordinator: TokenCoordinator.ID
  ) -> IssuedToken? {
    guard let value = headers.field(named: header.name)?.value else { return nil }
    return updateRecord(of: coordinator) { $0.tokens.last { $0.value == value }?.issued }
  }

  func hasReplayed(for coordinator: TokenCoordinator.ID) -> Bool { updateRecord(of: coordinator) { $0.hasReplayed } }

  /// Notes a replay; false if there has been one.
  func beginReplay(for coordinator: TokenCoordinator.ID) -> Bool {
    updateRecord(of: coordinator) { record in
      defer { record.hasReplayed = true }
      return !record.hasReplayed
    }
  }

  private func updateRecord<Result>(of coordinator: TokenCoordinator.ID, _ change: (inout TokenRecord) -> Result)
    -> Result
  {
    update(TokenRecords.self) { records in
      // A call has looked the session up before anything else is noted of it.
      let place = records.place(of: coordinator, beginningWith: 0)
      return change(&records[place])
    }
  }
}
