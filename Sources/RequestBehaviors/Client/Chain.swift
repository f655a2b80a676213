/// Runs a request through a list of behaviors to the transport and back.
///
/// One instance serves all requests of a list; what belongs to a request is in its ``Call``.
final class Chain: Sendable {
  let observers: [any CallObserver]
  let transport: any Transport
  private let configuration: RequestConfiguration
  private let waits: ClientWaits
  private let members: [Member]
  /// The names of the credentials that a request can ask for.
  private let credentialNames: Set<String>

  init(_ pipeline: Pipeline, transport: any Transport, configuration: RequestConfiguration, waits: ClientWaits) {
    self.observers = pipeline.entries.compactMap { $0.behavior as? any CallObserver }
    self.transport = transport
    self.configuration = configuration
    self.waits = waits
    self.members = pipeline.entries.map(Member.init)
    self.credentialNames = Set(pipeline.entries.compactMap { ($0.behavior as? any CredentialBehavior)?.credential })
  }

  /// The behaviors, outermost first.
  var entries: [Pipeline.Entry] { members.map(\.entry) }

  /// An entry of the list where its behavior can be used without being copied.
  private final class Member: Sendable {
    let entry: Pipeline.Entry
    /// Whether the fields of the behavior win over those that the user set on the request.
    let outranksUser: Bool
    /// Whether `intercept` is all that the behavior does.
    let onlyIntercepts: Bool
    /// The behavior, if it adds credentials.
    let credential: (any CredentialBehavior)?

    init(_ entry: Pipeline.Entry) {
      self.entry = entry
      onlyIntercepts = entry.behavior is any InterceptOnlyBehavior
      outranksUser = [.authentication, .signing].contains(entry.order.standard)
      credential = entry.behavior as? any CredentialBehavior
    }

    /// Whether the request's options ask for the behavior's credentials; true for a behavior that adds none.
    func isWanted(by request: NetworkRequest) -> Bool {
      guard let credential else { return true }
      return request.options.authentication.includes(credential.credential)
    }
  }

  /// Runs the request through the whole list.
  func run(_ request: NetworkRequest, in run: ChainRun) async throws -> NetworkResponse {
    for observer in observers { observer.callStarted(request) }
    run.note(request.body)
    defer { run.cancelUnsentBodies() }
    try checkCredentials(of: request)
    for member in members where member.isWanted(by: request) {
      // A redirect may lead to the origin of credentials that are not for this one. They note who is signed in, but the
      // response is not that user's.
      let scope = member.entry.behavior.scope(for: request)
      if let scope, member.credential?.applies(to: request) != false { request.call.add(scope: scope) }
    }
    return try await proceed(from: 0, request, in: run)
  }

  /// Throws if a request explicitly requires credentials that it cannot have.
  private func checkCredentials(of request: NetworkRequest) throws {
    let requirement = request.options.authentication
    if let name = requirement.onlyName, !credentialNames.contains(name) {
      throw NetworkError.noSuchSession(name, credentialNames)
    }
    guard let explicit = request.options.explicitAuthentication, !explicit.isOptional, let origin = request.origin
    else { return }
    let wanted = members.filter { member in member.credential.map { explicit.includes($0.credential) } ?? false }
    guard !wanted.isEmpty, !wanted.contains(where: { $0.credential?.applies(to: request) == true }) else { return }
    // A request that brings its own credentials has what it requires, unless that is a certain session's.
    if explicit.onlyName == nil, request.call.userHeaders.contains(where: \.isNamedLikeCredential) { return }
    throw NetworkError.credentialsWithheld(
      wanted.map { ($0.entry.name, $0.credential?.origins ?? .baseURL) }, from: origin, request)
  }

  /// Runs the behavior at an index, or the next one that takes part, or sends the request if there is none.
  @inline(__always)
  private func proceed(
    from start: Int, _ request: NetworkRequest, in run: ChainRun
  ) async throws -> NetworkResponse {
    var index = start
    while index < members.count, !takesPart(members[index], in: request) { index += 1 }
    let response = try await enter(index, request, in: run)
    // What somebody unknown says is no success, whatever the status: nobody further out gets to see it.
    guard response.isVerified || !response.hasAcceptedStatus else {
      response.body.cancel()
      throw NetworkError.unverified(response)
    }
    return response
  }

  /// Whether a behavior has a part in a request: one that adds credentials does where they are wanted and may go.
  private func takesPart(_ member: Member, in request: NetworkRequest) -> Bool {
    guard let credential = member.credential, !credential.applies(to: request) else { return true }
    if let origin = request.origin, member.isWanted(by: request) {
      request.call.record(withheld: member.entry.name, from: origin, by: member.entry.name)
    }
    return false
  }

  /// Runs the behavior at an index, or sends the request if there is none.
  @inline(__always)
  private func enter(_ index: Int, _ request: NetworkRequest, in run: ChainRun) async throws -> NetworkResponse {
    guard index < members.count else { return try await send(request, in: run) }
    if members[index].entry.runsHooksOnly { return try await runHooks(at: index, request, in: run) }
    let step = run.beginStep()
    defer { run.endStep(step) }
    let next = Next(run: run, index: index, step: step)
    do {
      return try await members[index].entry.behavior.intercept(request, next: next)
    } catch {
      // The error may quote what a behavior further out set for a request that was never sent.
      run.call.noteSecrets(in: request.headers)
      throw error
    }
  }

  /// Runs the other hooks of the behavior at an index around everything further in.
  @inline(__always)
  func runHooks(at index: Int, _ original: NetworkRequest, in run: ChainRun) async throws -> NetworkResponse {
    let own = members[index]
    if own.onlyIntercepts { return try await proceed(from: index + 1, original, in: run) }
    var request = original
    var added = try await own.entry.behavior.headers(for: request)
    if let credential = own.credential { added.markUnmarked(as: credential.origins) }
    if !added.isEmpty { merge(added, into: &request, outranksUser: own.outranksUser) }
    do {
      try await own.entry.behavior.modify(&request)
    } catch {
      // The hook may have set a body before it threw.
      run.note(request.body)
      throw error
    }
    run.note(request.body)
    await own.entry.behavior.beforeSend(request)
    let response: NetworkResponse
    do {
      response = try await proceed(from: index + 1, request, in: run)
    } catch {
      await own.entry.behavior.afterFailure(error, for: request)
      throw error
    }
    guard response.isAcceptable else {
      await own.entry.behavior.afterFailure(NetworkError.unacceptableStatus(response), for: request)
      return response
    }
    do {
      try await own.entry.behavior.afterSuccess(response, for: request)
    } catch {
      response.body.cancel()
      throw error
    }
    return response
  }

  private func merge(_ added: HTTPHeaders, into request: inout NetworkRequest, outranksUser: Bool) {
    var added = added
    let userHeaders = request.call.userHeaders
    if !outranksUser, !userHeaders.isEmpty { added.removeAll { userHeaders.contains($0.name) } }
    request.headers.merge(added)
  }

  // MARK: - The end of the list

  private func send(_ original: NetworkRequest, in run: ChainRun) async throws -> NetworkResponse {
    try Task.checkCancellation()
    run.call.noteSecrets(in: original.headers)
    var request = original
    removeForeignSecrets(&request)
    try run.call.check(request)
    let number = try run.beginSend(request)
    request.sendNumber = number
    for observer in observers { observer.attemptStarted(request) }
    defer { reportEnd(of: number, request) }
    do {
      let response = try await transport.send(request)
      if Task.isCancelled {
        response.body.cancel()
        throw CancellationError()
      }
      run.endSend(number, with: response)
      return response
    } catch {
      let failure = describe(error, request)
      run.endSend(number, with: failure, of: request)
      throw failure
    }
  }

  private func reportEnd(of number: Int, _ request: NetworkRequest) {
    guard !observers.isEmpty else { return }
    let attempt = request.call.history[number - 1]
    for observer in observers { observer.attemptEnded(attempt, of: request) }
  }

  /// Removes every sensitive field that is not for the request's origin.
  private func removeForeignSecrets(_ request: inout NetworkRequest) {
    request.headers.markCredentials(as: .baseURL)
    guard request.headers.contains(where: \.isSensitive) else { return }
    guard let origin = request.origin else { return request.headers.removeAll(where: \.isSensitive) }
    let base = request.call.baseOrigin
    func isForeign(_ field: HTTPHeaders.Field) -> Bool { field.sensitivity?.includes(origin, base: base) == false }
    // Most of the time there is none, and the list need not be copied.
    let withheld = request.headers.filter(isForeign).map(\.name)
    guard !withheld.isEmpty else { return }
    request.headers.removeAll(where: isForeign)
    for name in withheld { request.call.record(withheld: name, from: origin, by: "NetworkClient") }
  }

  /// A cancelled task's failure is a cancellation, whatever the transport calls it; others get their request.
  private func describe(_ error: any Error, _ request: NetworkRequest) -> any Error {
    if Task.isCancelled { return CancellationError() }
    guard var described = error as? NetworkError else { return error }
    if described.request == nil { described.request = request }
    return described
  }

  // MARK: - Prerequisites

  private static let prerequisiteOrders: Set<BehaviorOrder> = [
    .observation, .deadline, .request, .retry, .hedging, .redirects, .circuitBreaker, .rateLimit, .verification, .last,
  ]

  /// Returns a client whose behaviors cannot wait for a caller that stands at an index of this list.
  ///
  /// The caller is within the `intercept` of everything further out, which may hold a permit; there the other hooks of
  /// a user's behavior run without it.
  func prerequisiteClient(
    for caller: Int, omitting types: [any RequestBehavior.Type], parent: Call
  ) -> NetworkClient {
    let omitted = Set(types.map { ObjectIdentifier($0) })
    var configuration = configuration
    configuration.behaviors = entries.enumerated().compactMap { index, entry in
      guard entry.source == .configuration, Chain.prerequisiteOrders.contains(entry.order.standard) else { return nil }
      guard !omitted.contains(ObjectIdentifier(type(of: entry.behavior))) else { return nil }
      let isAroundCaller = index <= caller && !(entry.behavior is any ReentrantBehavior)
      return BehaviorGroup(entry.behavior, order: entry.order, hooksOnly: entry.runsHooksOnly || isAroundCaller)
    }
    configuration.options.withdrawRequiredAuthentication()
    if let trace = parent.trace { configuration.behaviors.append(InheritedTraceBehavior(trace: trace)) }
    return NetworkClient(configuration: configuration, transport: transport, parent: parent.id, waits: waits)
  }
}
