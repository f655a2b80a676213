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
  static func prepare(_ request: inout Request<NetworkResponse>, key: String) {
    request.options.retryPolicy = RetryPolicy.none
    request.options.hedging = nil
    request.options.caching = .noStore
    request.options.offlineRule = .refuse
    let own = request.options.idempotencyKey
    let value = own?.givenValue ?? key
    let name = own?.name ?? "Idempotency-Key"
    // For each method: the option is for those that are not idempotent only.
    if !request.headers.contains(name) { request.headers.set(name, own?.isQuoted == true ? "\"\(value)\"" : value) }
    request.options.idempotencyKey = IdempotencyKey.value(value).inField(name, isQuoted: own?.isQuoted ?? false)
  }
}
