/// The owners of the first call and of the first send of a series to each origin.
final class FirstUser: Sendable {
  private struct Owners {
    var ofCalls: [Origin?: Set<String>] = [:]
    var ofSends: [Origin?: Set<String>] = [:]
  }

  private let owners = Locked(Owners())

  init() {}

  /// Returns whether a call has the owners of the first one to the origin of its request.
  ///
  /// Another origin may be that of another session.
  fileprivate func includes(_ request: NetworkRequest) -> Bool {
    isFirst(Set(request.call.scopes), for: request, in: \.ofCalls)
  }

  /// Returns whether a send has the owners of the first one to its origin, who are still there.
  ///
  /// A redirect may lead to the origin of a session, so that the call gets that session's user on its way.
  fileprivate func includes(sendOf request: NetworkRequest) -> Bool {
    let owner = request.call.owner
    guard owner.isPresent, !owner.isOfUnnamed else { return false }
    return isFirst(Set(owner.allScopes), for: request, in: \.ofSends)
  }

  /// Returns whether owners are the first ones of an origin, and records them if there were none.
  private func isFirst(
    _ own: Set<String>, for request: NetworkRequest, in list: WritableKeyPath<Owners, [Origin?: Set<String>]>
  ) -> Bool {
    owners.withLock { owners in
      guard let first = owners[keyPath: list][request.origin] else {
        owners[keyPath: list][request.origin] = own
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
    request.call.addSendCheck { [user] request in
      guard user.includes(sendOf: request) else { throw NetworkError.seriesOfAnotherUser() }
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
