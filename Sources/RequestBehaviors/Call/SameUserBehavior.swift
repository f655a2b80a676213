/// The owner of the first call of a series to each origin.
final class FirstUser: Sendable {
  private let scopes = Locked<[Origin?: [String]]>([:])

  init() {}

  /// Returns whether a request has the same owner as the first one to its origin.
  ///
  /// Another origin may be that of another session.
  fileprivate func includes(_ request: NetworkRequest) -> Bool {
    let own = request.call.scopes
    return scopes.withLock { scopes in
      guard let first = scopes[request.origin] else {
        scopes[request.origin] = own
        return true
      }
      return first == own
    }
  }
}

/// Refuses a request of a series that has another owner than the first one.
struct SameUserBehavior: RequestBehavior {
  let order = BehaviorOrder.first
  let user: FirstUser

  func modify(_ request: inout NetworkRequest) async throws {
    guard user.includes(request) else { throw NetworkError.seriesOfAnotherUser() }
    // Another user may have signed in while the request waited in an inner behavior.
    request.call.addSendCheck { request in
      guard request.call.keepsUser else { throw NetworkError.seriesOfAnotherUser() }
    }
  }
}

extension NetworkError {
  fileprivate static func seriesOfAnotherUser() -> NetworkError {
    NetworkError(
      .signedOut,
      "another user has signed in or out since the first request; begin anew if the rest is to be that user's")
  }
}
