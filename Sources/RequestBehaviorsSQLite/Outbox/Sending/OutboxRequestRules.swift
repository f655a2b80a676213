import Foundation
import RequestBehaviors

/// The rules for requests of operations.
enum OutboxRequestRules {
  /// Throws if a request cannot be delivered by an outbox.
  static func check<Value>(_ request: Request<Value>) throws {
    guard !request.method.isSafe else {
      throw NetworkError(
        .invalidRequest,
        "a \(request.method) changes nothing on the server, so there is nothing that must arrive; send it")
    }
    guard let path = request.pathBelowBase, request.options.environment == nil else {
      throw NetworkError(
        .invalidRequest,
        "a request of an outbox goes to a path below the base URL of its client; leave the full URL or the environment "
          + "out, or make an outbox with a client of that server")
    }
    if let fault = path.fault { throw NetworkError(.invalidRequest, fault) }
  }

  /// Sets what the outbox decides: the key, and that no other part of the client repeats the request.
  ///
  /// - Parameters:
  ///   - request: The request; a key of its own wins.
  ///   - key: The value of the entry's key.
  ///   - place: The field of the entry's key, and its quotation marks.
  static func prepare(_ request: inout Request<NetworkResponse>, key: String, in place: IdempotencyKey) {
    request.options.retryPolicy = RetryPolicy.none
    request.options.hedging = nil
    request.options.caching = .noStore
    request.options.offlineRule = .refuse
    let own = request.options.idempotencyKey
    let value = own?.givenValue ?? key
    let (name, isQuoted) = (own?.name ?? place.name, own?.isQuoted ?? place.isQuoted)
    let sent = IdempotencyKey.value(value).inField(name, isQuoted: isQuoted)
    // For each method: the option is for those that are not idempotent only.
    if request.headers[name]?.isEmpty != false { request.headers.set(name, sent.text(of: value)) }
    request.options.idempotencyKey = sent
  }
}
