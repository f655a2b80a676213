/// The record that a call keeps of a session.
struct TokenRecord: Sendable, Identifiable {
  /// The session.
  let id: TokenCoordinator.ID
  /// The generation of the user who owns the call.
  var generation: Int
  /// The number of failed refreshes when the call first needed a token; `nil` before that.
  var failures: Int?
  var hasReplayed = false
  /// The tokens of the call, by the values of their field.
  ///
  /// Several sends under way may carry different ones, and another session may have set the field since.
  var tokens = ShortList<(value: String, issued: IssuedToken)>()
}

extension TokenRecord {
  /// Records a token that is sent.
  fileprivate mutating func note(_ issued: IssuedToken, as value: String) {
    // The same token may come as two objects, because one that was waited for is marked.
    tokens.removeAll { $0.value == value }
    tokens.append((value, issued))
  }
}

/// The records that a call keeps of its sessions; most calls have one session.
private struct TokenRecords: Sendable, CallKey {
  static let defaultValue = TokenRecords()

  private var records = ShortList<TokenRecord>()

  /// Changes a session's record; adds a record with this generation if the session has no record yet.
  mutating func change<Result>(
    of coordinator: TokenCoordinator.ID, beginningWith generation: Int, _ change: (inout TokenRecord) -> Result
  ) -> Result {
    records.change(coordinator, orAdd: TokenRecord(id: coordinator, generation: generation), change)
  }

  /// Changes a session's record; every call looks the session up first, so there is one.
  mutating func change<Result>(
    of coordinator: TokenCoordinator.ID, _ change: (inout TokenRecord) -> Result
  ) -> Result {
    self.change(of: coordinator, beginningWith: 0, change)
  }

  var signIns: [ObjectIdentifier: Int] {
    records.reduce(into: [:]) { $0[$1.id] = $1.generation }
  }
}

/// The last check of the tokens that a call sends in a field.
private struct TokenCheck: Sendable {
  let field: TokenField
  /// The first token of the call in the field.
  let first: IssuedToken
  /// The generation of the user who owned the call when the field first got a token.
  let generation: Int

  /// Puts the newest token of the same user into a request that may have waited in a limiter.
  func renew(_ request: inout NetworkRequest) {
    let coordinator = field.coordinator
    // Most often no token is newer than the first one, and the request need not be asked which it carries.
    guard coordinator.newest(after: first) != nil,
      let sent = request.call.token(sentIn: request.headers, field.header, of: coordinator.id),
      let newest = coordinator.newest(after: sent), field.session.problem(of: newest) == nil
    else { return }
    let value = field.header.value(of: newest)
    request.call.updateRecord(of: coordinator.id) { $0.note(newest, as: value) }
    request.headers.set(field.header.name, value, sensitive: field.origins)
  }

  /// Throws if a request carries the token of a user who has left.
  func verify(_ request: NetworkRequest) throws {
    let coordinator = field.coordinator
    // The generation of a call only grows, and never beyond the session's.
    let latest = coordinator.generation
    if latest == generation || latest == request.call.sessionSnapshot(of: coordinator.id).generation { return }
    if request.call.token(sentIn: request.headers, field.header, of: coordinator.id) != nil {
      throw NetworkError.signedOut()
    }
  }
}

/// The field in which a behavior sends the tokens of a session.
///
/// It is a class, so that all calls share the behavior's one.
final class TokenField: Sendable {
  let session: TokenSession
  let header: TokenHeader
  /// The servers that the tokens may be sent to.
  let origins: OriginScope

  init(_ header: TokenHeader, of session: TokenSession, for origins: OriginScope) {
    self.session = session
    self.header = header
    self.origins = origins
  }

  var coordinator: TokenCoordinator { session.coordinator }
}

extension Call {
  /// Records the signed-in user when the call begins.
  ///
  /// The call's response is stored as that user's, so the call must not be sent as another user.
  func noteUser(_ generation: Int, of coordinator: TokenCoordinator.ID) {
    update(TokenRecords.self) { $0.change(of: coordinator, beginningWith: generation) { _ in } }
  }

  /// Records the session's history when the call first comes, and returns the record.
  ///
  /// A call belongs to the user who was signed in when it began: neither it nor a retry is sent as another user. If no
  /// user was signed in then, it belongs to the user who is signed in when it first needs a token. That holds too if
  /// the store had to be read to find out.
  func note(_ lookup: TokenCoordinator.Lookup, of coordinator: TokenCoordinator.ID) -> SessionSnapshot {
    let snapshot = lookup.snapshot
    return update(TokenRecords.self) { records in
      records.change(of: coordinator, beginningWith: snapshot.generation) { record in
        if record.failures == nil, record.generation == lookup.emptyGeneration {
          record.generation = snapshot.generation
        }
        let failures = record.failures ?? snapshot.failures
        record.failures = failures
        return SessionSnapshot(generation: record.generation, failures: failures)
      }
    }
  }

  /// The numbers of the sign-ins that the call belongs to, by session.
  var tokenSignIns: [ObjectIdentifier: Int] { self[TokenRecords.self].signIns }

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
  ///   - value: The value of the field that carries it.
  ///   - field: The field.
  func noteToken(_ issued: IssuedToken, as value: String, in field: TokenField) {
    let generation = updateRecord(of: field.coordinator.id) { record in
      record.note(issued, as: value)
      return record.generation
    }
    let check = TokenCheck(field: field, first: issued, generation: generation)
    addSendCheck(
      of: field, handOvers: field.coordinator.handOvers, renewal: { check.renew(&$0) }, check: { try check.verify($0) })
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

  fileprivate func updateRecord<Result>(
    of coordinator: TokenCoordinator.ID, _ change: (inout TokenRecord) -> Result
  ) -> Result {
    update(TokenRecords.self) { $0.change(of: coordinator, change) }
  }
}
