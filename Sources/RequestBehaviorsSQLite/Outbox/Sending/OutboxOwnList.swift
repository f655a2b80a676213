import RequestBehaviors

/// The behaviors of a request that lists some itself, or leaves out some of the client's.
///
/// An operation makes its request of nothing but its value and the database. So the credentials that it lists are the
/// same for each attempt, and belong to the entry beside its owner.
struct OutboxOwnList: Sendable {
  /// The behaviors that the request lists itself, without the sessions that replace one of the client's.
  let own: [Pipeline.Entry]
  /// The names of the client's credentials that are left, and of the sessions that replace them.
  private let credentials: Set<String>

  /// Creates the list of a request.
  ///
  /// - Parameters:
  ///   - pipeline: All behaviors of the request.
  ///   - members: The owners of calls.
  /// - Throws: `NetworkError` of code `invalidRequest` if the request brings a session that the client does not have.
  init(_ pipeline: Pipeline, _ members: [ClientOwners.Member]) throws {
    func isOwn(_ entry: Pipeline.Entry) -> Bool {
      entry.source == .request && !(entry.behavior is any AccountKnowing)
    }
    let foreign = pipeline.entries.first { entry in
      guard entry.source == .request, let session = entry.behavior as? any AccountKnowing else { return false }
      return !members.contains { $0.isOfSession && $0.credential == session.credential }
    }
    if let foreign {
      throw NetworkError(
        .invalidRequest,
        "the request brings \(foreign.name), whose user may be another one when it is sent; list it in the client of "
          + "the outbox")
    }
    own = pipeline.entries.filter(isOwn)
    credentials = Set(pipeline.entries.filter { !isOwn($0) }.compactMap(\.credential?.credential))
  }

  /// Returns the owners, of those of the client, that the call of the request has.
  func left(of members: [ClientOwners.Member]) -> [ClientOwners.Member] {
    members.filter { $0.credential.map(credentials.contains) ?? true }
  }
}

extension OutboxCore {
  /// Returns the behaviors of a request that lists some itself or leaves some out; nil for any other request.
  func ownList<Value>(of request: Request<Value>) throws -> OutboxOwnList? {
    // Making the list takes much longer than the question.
    guard !request.behaviors.isEmpty || request.removesBehaviors else { return nil }
    return try OutboxOwnList(client.pipeline(for: request), members)
  }
}
