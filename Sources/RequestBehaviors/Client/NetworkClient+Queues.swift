// What a queue needs that sends requests later: whose they are, whether responses are verified, and the client's end.

extension NetworkClient {
  /// Returns the owners that requests to the base URL have now, without sending one.
  ///
  /// From then on the client's behaviors hear of the end of those owners.
  package func owners() async throws -> ClientOwners {
    if lifetime.isShutDown { throw NetworkError.clientShutDown() }
    let chain = try chain.get()
    let request = try probe()
    let call = request.call
    call.beginOwner()
    var members: [ClientOwners.Member] = []
    for (index, entry) in chain.pipeline.entries.enumerated() {
      if let credential = entry.credential, !credential.applies(to: request) { continue }
      let scope = await entry.behavior.scope(for: request)
      if let session = entry.behavior as? any AccountKnowing {
        members.append(ClientOwners.Member(session))
      } else if let scope {
        members.append(ClientOwners.Member(entry, scope))
      }
      if let scope { call.add(scope: scope, of: index) }
    }
    return ClientOwners(members: members, owner: call.owner)
  }

  /// Returns the owners, those of sessions as they are now and the others as they were found before.
  package func owners(since earlier: ClientOwners) -> [ClientOwners.Member] {
    guard let chain = try? chain.get() else { return earlier.members }
    let known = chain.pipeline.entries.compactMap { $0.behavior as? any AccountKnowing }
    return earlier.members.map { member in
      guard let behavior = known.first(where: { $0.credential == member.credential }) else { return member }
      return ClientOwners.Member(behavior)
    }
  }

  /// Reads again who is signed in to the sessions, so that a sign-in or sign-out of another process applies here too.
  ///
  /// - Returns: Whether all of them could be read.
  package func readSessionsAgain() async -> Bool {
    let sessions = ((try? chain.get())?.pipeline.entries ?? []).compactMap { $0.behavior as? any AccountKnowing }
    // All at a time, so that a store that hangs does not hold up those after it.
    return await withTaskGroup(of: Bool.self) { [clock = configuration.clock] group in
      for session in sessions { group.addTask { await session.readAccount(on: clock) } }
      return await group.reduce(true) { $0 && $1 }
    }
  }

  /// Returns whether a behavior verifies the responses to requests to the base URL.
  package func verifies() throws -> Bool {
    let request = try probe()
    return try chain.get().pipeline.entries.contains { $0.behavior.verifies(request) }
  }

  /// The connectivity that an ``OfflineBehavior`` of the client asks; `nil` without one.
  package var connectivity: Connectivity? {
    let behaviors = (try? chain.get())?.pipeline.entries.map(\.behavior) ?? []
    return behaviors.lazy.compactMap { ($0 as? OfflineBehavior)?.connectivity }.first
  }

  /// Sends a request of a flow, whose errors ``MapErrorBehavior`` does not replace; see ``mappingErrors(_:)``.
  ///
  /// - Parameter request: The request.
  /// - Returns: The response.
  /// - Throws: The error as it arose.
  @concurrent
  public func sendUnmapped(_ request: Request<NetworkResponse>) async throws -> NetworkResponse {
    try await originalSend(request)
  }

  /// Whether the client takes new calls; false from the beginning of its ``shutdown(gracePeriod:)`` on.
  package var takesCalls: Bool { lifetime.takesCalls }

  /// Adds a closure to run when the client is shut down; returns `nil` if it has been.
  package func addEnding(_ ending: @escaping @Sendable () -> Void) -> UInt64? { lifetime.add(ending) }

  /// Removes a closure that ``addEnding(_:)`` added.
  package func removeEnding(_ id: UInt64) { lifetime.remove(id) }

  /// Returns a request to the base URL that is never sent, with credentials of every session.
  private func probe() throws -> NetworkRequest {
    guard let base = configuration.options.environment?.baseURL, let origin = context.baseOrigin else {
      throw NetworkError(.invalidURL, "the client has no base URL, to which a queue sends its requests")
    }
    let call = Call(context, options: configuration.options, parent: nil)
    var request = NetworkRequest(.post, url: base, origin: origin, endpoint: "", call: call)
    request.options.authentication = .required
    return request
  }
}
