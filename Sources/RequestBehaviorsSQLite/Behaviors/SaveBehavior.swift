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
/// | `.persist(_:in:durability:)` | what a ``ResponseSaver`` saves |
/// | `.persist(in:durability:save:)` | what a closure saves |
/// | `.saveRecords(_:at:into:in:deletingOthers:durability:)` | decoded records, as rows of a table |
/// | `.ingest(at:into:in:columns:durability:)` | the records of a JSON text, as rows, without decoding |
///
/// A request saves its own decoded value by its own `persist(in:durability:save:)`.
///
/// A 304 to the caller's own conditional request is not saved, and neither is a 404 that the request takes as nil.
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
    let received = try await next(request)
    guard isToBeSaved(received) else { return received }
    var response = try await received.buffered()
    do {
      let write = try prepare(&response)
      let call = request.call
      let ownedWrite: Write = { db in
        // The check is in the transaction, so that clearing the store after a sign-out clears every earlier save.
        try call.owner.verify()
        let counts = try write(db)
        try call.owner.verify()
        return counts
      }
      let counts =
        mayRunAgain
        ? try await store.writeTogether(durability: durability, check: { try call.owner.verify() }, ownedWrite)
        : try await store.write(durability: durability, ownedWrite)
      if let counts {
        response.info[SavedRows.self] = (response.info[SavedRows.self] ?? SQLiteSaveCounts()) + counts
      }
    } catch is CancellationError {
      throw CancellationError()
    } catch var error as NetworkError where error.code == .signedOut {
      error.request = response.request
      throw error
    } catch {
      throw NetworkError.persistenceFailed(error, response)
    }
    return response
  }

  private func isToBeSaved(_ response: NetworkResponse) -> Bool {
    guard response.isAcceptable, response.isVerified, response.statusCode != 304 else { return false }
    if cached == .skip, response.info[CacheFacts.self]?.isChanged == false { return false }
    return savesNil || response.statusCode != 404 || !response.request.call.options.nilWhenNotFound
  }
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
