import Foundation
import RequestBehaviors

extension OAuth1Session {
  /// Signs with a fresh nonce and the time at the service.
  ///
  /// - Throws: `NetworkError` if the request cannot be signed.
  func sign(
    _ request: inout NetworkRequest, with signer: OAuth1Signer, additional: [(name: String, value: String)] = []
  ) async throws {
    // Hashing a large file takes a while, and the timestamp must not be old.
    let fileHash = try await signer.fileHash(of: request)
    let timestamp = clock(for: request).timestamp(at: request.call.clock.now())
    let own = request.options.oauth1Parameters.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    try signer.sign(
      &request, nonce: makeNonce(), timestamp: timestamp, bodyHash: fileHash,
      additional: additional + own.map { (name: $0.key, value: $0.value) })
  }
}

extension NetworkError {
  /// The error of a request that needs a signature while no user is signed in.
  static func oauth1NotSignedIn(_ request: NetworkRequest) -> NetworkError {
    NetworkError(
      .oauth1MissingCredentials,
      "no user is signed in; sign in first, use OAuth1Credentials.none to sign for the app alone, or send the request "
        + "with authentication .none", request: request)
  }
}
