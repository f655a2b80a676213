/// The record that a call keeps of a session.
struct TokenRecord: Sendable {
  /// The session.
  let coordinator: TokenCoordinator.ID
  /// The generation of the user who owns the call.
  var generation: Int
  /// The number of failed refreshes when the call first needed a token; `nil` before that.
  var failures: Int?
  var hasReplayed = false
  /// The field whose token is checked before every send.
  var checkedField: String?
  /// The tokens of the call, by the values of their field.
  ///
  /// Several sends under way may carry different ones, and another session may have set the field since.
  var tokens: ShortList<(value: String, issued: IssuedToken)> = []
}

extension TokenRecord {
  /// Records a token that is sent.
  fileprivate mutating func note(_ issued: IssuedToken, as value: String) {
    // The same token may come as two objects, because one that was waited for is marked.
    tokens.removeAll { $0.value == value }
    tokens.append((value, issued))
  }
}

/// The records that a call keeps of its sessions; most calls have one.
private enum TokenRecords: CallKey {
  static let defaultValue: [TokenRecord] = []
}

extension [TokenRecord] {
  /// Returns the index of a session's record; adds a record with this generation if the session has no record yet.
  fileprivate mutating func place(of coordinator: TokenCoordinator.ID, beginningWith generation: Int) -> Int {
    if let place = firstIndex(where: { $0.coordinator == coordinator }) { return place }
    append(TokenRecord(coordinator: coordinator, generation: generation))
    return count - 1
  }
}

extension Call {
  /// Records the signed-in user when the call begins.
  ///
  /// The call's response is stored as that user's, so the call must not be sent as another user.
  func noteUser(_ generation: Int, of coordinator: TokenCoordinator.ID) {
    update(TokenRecords.self) { _ = $0.place(of: coordinator, beginningWith: generation) }
  }

  /// Records the session's history when the call first comes, and returns the record.
  ///
  /// A call belongs to the user who was signed in when it began: neither it nor a retry is sent as another user. If no
  /// user was signed in then, it belongs to the user who is signed in when it first needs a token. That holds too if
  /// the store had to be read to find out.
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

  /// The numbers of the sign-ins that the call belongs to, by session.
  var tokenSignIns: [ObjectIdentifier: Int] {
    self[TokenRecords.self].reduce(into: [:]) { $0[$1.coordinator] = $1.generation }
  }

  /// The history that was recorded when the call came.
  func sessionSnapshot(of coordinator: TokenCoordinator.ID) -> SessionSnapshot {
    updateRecord(of: coordinator) { SessionSnapshot(generation: $0.generation, failures: $0.failures ?? 0) }
  }

  /// Records the owner of the call if a user signed in while it waited.
  func bind(to issued: IssuedToken, at coordinator: TokenCoordinator.ID) {
    updateRecord(of: coordinator) { $0.generation = issued.generation }
  }

  /// Records a token that the call is sent with.
  ///
  /// The first token of a field adds a last check of it. A request that waited in a limiter gets the newest token of
  /// its user. No request is sent with the token of a user who has left, and a sign-out waits for requests that are
  /// being handed over.
  ///
  /// - Parameters:
  ///   - issued: The token.
  ///   - header: The field that carries it.
  ///   - origins: The servers it may be sent to.
  ///   - coordinator: The session.
  func noteToken(
    _ issued: IssuedToken, in header: TokenHeader, for origins: OriginScope, of coordinator: TokenCoordinator
  ) {
    let (isChecked, generation) = updateRecord(of: coordinator.id) { record in
      record.note(issued, as: header.value(of: issued))
      return (record.checkedField == header.name, record.generation)
    }
    // A retry comes here again and adds nothing.
    if isChecked { return }
    // All is added before the field counts as checked, so that no other send of the call goes without it. Two that come
    // at the same moment add it twice, which does no harm.
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
      // The generation of a call only grows, and never beyond the session's.
      let latest = coordinator.generation
      if latest == generation || latest == request.call.sessionSnapshot(of: coordinator.id).generation { return }
      if request.call.token(sentIn: request.headers, header, of: coordinator.id) != nil {
        throw NetworkError.signedOut()
      }
    }
    updateRecord(of: coordinator.id) { $0.checkedField = header.name }
  }

  /// The token of a session that a request carries; `nil` if its field holds no token that the call got from the
  /// session.
  func token(
    sentIn headers: HeaderFields, _ header: TokenHeader, of coordinator: TokenCoordinator.ID
  ) -> IssuedToken? {
    guard let value = headers.field(named: header.name)?.value else { return nil }
    return updateRecord(of: coordinator) { $0.tokens.last { $0.value == value }?.issued }
  }

  func hasReplayed(for coordinator: TokenCoordinator.ID) -> Bool { updateRecord(of: coordinator) { $0.hasReplayed } }

  /// Records a replay; returns false if it is not the first.
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
      // Every call looks the session up first, so there is a record and the generation does not matter.
      let place = records.place(of: coordinator, beginningWith: 0)
      return change(&records[place])
    }
  }
}
