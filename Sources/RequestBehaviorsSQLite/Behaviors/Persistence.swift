public import RequestBehaviors

/// Runs a save for a response: what all saving behaviors do.
struct Persistence: Sendable {
  /// Writes to the database and returns what it did to the rows, if it counts.
  typealias Write = @Sendable (Database) throws -> SQLiteSaveCounts?

  let store: SQLiteStore
  let durability: SQLiteDurability?
  /// Does what needs no database, such as decoding, and returns the write.
  let prepare: @Sendable (NetworkResponse) throws -> Write
  /// Whether a 404 that the request takes as nil is handed on: for what takes nil itself.
  var takesNil = false

  /// Returns the response once its save is committed; a response that is not to be saved at once.
  func save(_ original: NetworkResponse) async throws -> NetworkResponse {
    guard original.isAcceptable, original.isVerified, original.statusCode != 304 else { return original }
    let isNil = original.statusCode == 404 && original.request.call.options.nilWhenNotFound
    guard takesNil || !isNil else { return original }
    var response = try await original.buffered()
    do {
      let write = try prepare(response)
      if let counts = try await store.write(durability: durability, write) {
        response.info[SavedRows.self] = (response.info[SavedRows.self] ?? SQLiteSaveCounts()) + counts
      }
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      throw NetworkError.persistenceFailed(error, response)
    }
    return response
  }
}

/// How many rows the behaviors of a request have saved: `response.info[SavedRows.self]`.
///
/// Left by ``SaveRecordsBehavior`` and ``IngestBehavior``; where several saved, their counts are added.
public enum SavedRows: ResponseInfoKey {
  /// The counts.
  public typealias Value = SQLiteSaveCounts
}

extension NetworkError.Code {
  /// The response was received but could not be saved; the error's `response` holds it.
  public static let persistenceFailed = NetworkError.Code(rawValue: "persistenceFailed")
}

extension NetworkError {
  static func persistenceFailed(_ error: any Error, _ response: NetworkResponse) -> NetworkError {
    // The code alone says where a decoding error came from; it has message and place itself.
    if let error = error as? NetworkError, error.response != nil { return error }
    return NetworkError(
      .persistenceFailed,
      "the response was received but not saved, and nothing of it was; the error's response holds it",
      response: response, underlyingError: error)
  }
}
