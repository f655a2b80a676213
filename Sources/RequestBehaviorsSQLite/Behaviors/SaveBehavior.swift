public import RequestBehaviors
import RequestBehaviorsCaching

/// A behavior that saves responses in a store before the caller gets them.
///
/// A response that has an acceptable status and passed verification is saved in one write transaction. The caller gets
/// it after the commit. If the save throws, or the commit fails, everything is rolled back and the request fails with
/// the code `persistenceFailed`; the error holds the response.
///
/// There are four kinds:
///
/// | factory | what it saves |
/// |---|---|
/// | `.persist(_:in:durability:cached:)` | what a ``ResponseSaver`` saves |
/// | `.persist(in:durability:cached:save:)` | what a closure saves |
/// | `.saveRecords(_:at:into:in:deletingOthers:durability:cached:)` | decoded records, as rows of a table |
/// | `.ingest(at:into:in:columns:durability:cached:)` | the records of a JSON text, as rows, without decoding |
///
/// A request saves its own decoded value by its own `persist(in:durability:save:)`.
///
/// Of the responses to a GET that is sent several times at once, each saved by the same behavior or an equal one, the
/// one that was asked for last stays: one that comes after it is not saved, and neither is older content of a cache.
/// Two behaviors that save records or JSON are equal if their arguments are. The calls must be those of one client, and
/// of one ``SQLiteStore`` object.
///
/// A 304 to the caller's own conditional request is not saved, and neither is a 404 that the request takes as nil, nor
/// a stale response that replaces the one of a late server when the call's deadline has passed.
/// Unchanged rows are not written. Every listed behavior of this type saves: one in a request does not replace those of
/// the configuration.
///
/// A behavior of the configuration lets a streamed response through without saving it. A behavior of the request itself
/// fails such a request, because the caller gets a streamed response before its body can be saved.
public struct SaveBehavior: RequestBehavior {
  /// Writes to the database, and returns what it did to the rows if it counts them.
  typealias Write = @Sendable (Database) throws -> SQLiteSaveCounts?

  /// The order outside redirects, authentication and verification, so that only the final, verified response is saved,
  /// once.
  public let order = BehaviorOrder.persistence

  let store: SQLiteStore
  let durability: SQLiteDurability?
  let target: SaveTarget
  /// Whether a response that a cache already had is saved too.
  var cached = CachedResponses.save
  /// Whether the write may run again, and so may share a transaction with other writes.
  var mayRunAgain = false
  /// Whether a 404 that the request takes as nil is saved too.
  var savesNil = false
  /// Does the work that needs no database, such as decoding, and returns the write.
  let prepare: @Sendable (inout NetworkResponse) throws -> Write

  /// Runs the request and saves its response.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard request.options.delivery == .buffered else {
      request.call.record("not saved: the response is streamed", from: "SaveBehavior", kind: .persistence)
      return try await next(request)
    }
    let (key, overlap) = begin(request, next)
    defer { overlap?.end() }
    let response = try await next(request)
    guard isToBeSaved(response, key) else { return response }
    return try await saved(response, to: request, key, overlap)
  }

  /// Notes a request whose response is to be saved.
  // Not inlined; see `saved`.
  @inline(never)
  private func begin(_ request: NetworkRequest, _ next: Next) -> (SaveKey?, OverlappingSaves.Save?) {
    let key = SaveKey(request, at: next, target)
    return (key, key.map { store.overlappingSaves.begin($0, request.call) })
  }

  /// Saves a response, unless it came too late, and returns it in memory.
  // Not inlined: every request would take memory for it while it waits.
  @inline(never)
  private func saved(
    _ received: NetworkResponse, to request: NetworkRequest, _ key: SaveKey?, _ overlap: OverlappingSaves.Save?
  ) async throws -> NetworkResponse {
    if received.source == .stale, request.call.isLate {
      // The cache returns it in place of a late response. A save in the cancelled task would fail the call.
      request.call.record("not saved: the deadline has passed", from: "SaveBehavior", kind: .persistence)
      return received
    }
    var response = try await received.buffered()
    do {
      let counts = try await save(&response, request.call, overlap)
      noteSaved(response, key)
      if let counts {
        response.info[SavedRows.self] = (response.info[SavedRows.self] ?? SQLiteSaveCounts()) + counts
      }
    } catch is OverlappingSaves.Outdated {
      request.call.record(
        "not saved: the response to a request that was sent later is saved", from: "SaveBehavior", kind: .persistence)
    } catch {
      if cached == .skip, let key { store.savedContents.noteUnsaved(key.ofKind) }
      throw Self.failure(error, response)
    }
    return response
  }

  /// Saves a response.
  ///
  /// - Parameters:
  ///   - response: The response, which may be decoded.
  ///   - call: The call.
  ///   - overlap: The call among those that save the same; `nil` if they cannot be told, or do not matter.
  /// - Returns: What it did to the rows, if that is counted.
  /// - Throws: `OverlappingSaves.Outdated` if the response to a request that was sent later is saved.
  private func save(
    _ response: inout NetworkResponse, _ call: Call, _ overlap: OverlappingSaves.Save?
  ) async throws -> SQLiteSaveCounts? {
    let write = try prepare(&response)
    let (sentAt, storedAt) = (response.isFromServer ? response.sentAt : nil, response.info[CacheFacts.self]?.storedAt)
    let ownedWrite: Write = { db in
      // The check is in the transaction, so that clearing the store after a sign-out clears every earlier save.
      try call.owner.verify()
      if let sentAt {
        try overlap?.check(sentAt: sentAt)
      } else if let storedAt {
        try overlap?.check(storedAt: storedAt)
      }
      let counts = try write(db)
      try call.owner.verify()
      if let overlap { try db.afterCommit { overlap.note(sentAt: sentAt, storedAt: storedAt) } }
      return counts
    }
    // Another one in the same transaction would not see that this one is saved.
    guard mayRunAgain, overlap?.hasOthers != true else {
      return try await store.write(durability: durability, ownedWrite)
    }
    return try await store.writeTogether(durability: durability, check: { try call.owner.verify() }, ownedWrite)
  }

  private func noteSaved(_ response: NetworkResponse, _ key: SaveKey?) {
    guard cached == .skip, let key, let facts = response.info[CacheFacts.self] else { return }
    store.savedContents.noteSaved(storedAt: facts.storedAt, key.ofKind)
  }

  /// Returns the error of a request whose response was not saved.
  private static func failure(_ error: any Error, _ response: NetworkResponse) -> any Error {
    if error is CancellationError { return error }
    if var error = error as? NetworkError, error.code == .signedOut {
      error.request = response.request
      return error
    }
    return NetworkError.persistenceFailed(error, response)
  }

  private func isToBeSaved(_ response: NetworkResponse, _ key: SaveKey?) -> Bool {
    guard response.isAcceptable, response.isVerified, response.statusCode != 304 else { return false }
    if cached == .skip, let facts = response.info[CacheFacts.self], !facts.isChanged {
      guard let key, !store.savedContents.has(storedAt: facts.storedAt, key.ofKind) else { return false }
    }
    return savesNil || response.statusCode != 404 || !response.request.call.options.nilWhenNotFound
  }
}

extension NetworkResponse {
  /// Whether the server has just sent or confirmed the response.
  ///
  /// When the content of a hit was sent is not known.
  fileprivate var isFromServer: Bool { source != .cache && source != .stale }
}

extension NetworkError.Code {
  /// The response was received but could not be saved; the error's `response` holds it.
  public static let persistenceFailed = NetworkError.Code(rawValue: "persistenceFailed")
}

extension NetworkError {
  fileprivate static func persistenceFailed(_ error: any Error, _ response: NetworkResponse) -> NetworkError {
    // A decoding error already has a message and a coding path, and its code says that it came from decoding.
    if let error = error as? NetworkError, error.response != nil { return error }
    return NetworkError(
      .persistenceFailed,
      "the response was received but not saved, and nothing of it was; the error's response holds it",
      response: response, underlyingError: error)
  }
}
