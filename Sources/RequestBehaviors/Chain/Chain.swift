import Foundation

/// Runs requests through the behaviors of a ``Pipeline`` to the transport and back.
///
/// One instance serves all requests of a list; the state of one request is in its ``ChainRun``.
final class Chain: Sendable {
  let pipeline: Pipeline
  /// The behaviors of the entries, because copying an entry costs several times as much.
  private let behaviors: [any RequestBehavior]
  /// The behaviors of the entries that add credentials, each at its index.
  let credentials: [(any CredentialBehavior)?]
  /// The behaviors of the list that observe calls.
  let observers: [any CallObserver]
  /// Those of them that observe attempts, too.
  let attemptObservers: [any CallObserver]
  /// The mapping of the errors that leave the client; `nil` if no behavior replaces errors.
  let errorMapping: ErrorMapping?
  let transport: any Transport
  /// Whether the transport ends the hand-over of each request itself; asked once, because each cast takes long.
  let endsHandOvers: Bool
  /// The transport, if it is told of each call when it begins.
  private let callNoting: (any CallNoting)?
  let configuration: RequestConfiguration
  let lifetime: ClientLifetime
  /// The list of the client, if this one is made for a request with behaviors of its own.
  let base: Chain?
  /// The part of a client's list that is told of the owners that end.
  let listener: ScopeEndings.Listener?
  /// The index of the first behavior that sees what the transport gets.
  private let lastStart: Int
  /// The names of the credentials that a request can ask for.
  private let credentialNames: Set<String>
  /// The end of the limiters: the index of the first behavior that signs or verifies, or the end of the list.
  private let endOfLimiters: Int
  /// The index of the first behavior further in than all caches.
  private let endOfCaches: Int
  /// Whether no behavior gives requests their idempotency keys.
  private let setsIdempotencyKeys: Bool
  private let lock = NSLock()
  // Protected by `lock`.
  @exclusivity(unchecked) nonisolated(unsafe) private var latestPlaces: [Place]

  init(
    _ pipeline: Pipeline, transport: any Transport, configuration: RequestConfiguration, lifetime: ClientLifetime,
    base: Chain? = nil
  ) {
    self.base = base
    self.listener = base == nil ? ScopeEndings.Listener(pipeline, transport) : nil
    self.pipeline = pipeline
    self.behaviors = pipeline.entries.map(\.behavior)
    self.credentials = pipeline.entries.map(\.credential)
    let observers = pipeline.entries.compactMap { $0.behavior as? any CallObserver }
    self.observers = observers
    self.attemptObservers = observers.filter(\.observesAttempts)
    self.errorMapping = ErrorMapping(pipeline.entries)
    self.transport = transport
    self.endsHandOvers = transport is any HandOverEnding
    self.callNoting = transport as? any CallNoting
    self.configuration = configuration
    self.lifetime = lifetime
    self.lastStart = pipeline.entries.firstIndex { $0.order >= .last } ?? pipeline.entries.count
    self.credentialNames = Set(pipeline.entries.compactMap(\.credential?.credential))
    self.endOfLimiters =
      pipeline.entries.firstIndex { $0.order.standard > .circuitBreaker } ?? pipeline.entries.count
    self.endOfCaches = pipeline.endOfCaches
    self.setsIdempotencyKeys = !pipeline.hasBehaviorThatSetsIdempotencyKeys
    self.latestPlaces = pipeline.entries.map { Place($0) }
  }

  /// Returns the facts about each place, as known by now.
  ///
  /// It is read once for each request, and includes the facts that earlier requests learned.
  func places() -> [Place] {
    lock.withLock {
      for (index, place) in latestPlaces.enumerated() where !place.isKnown {
        latestPlaces[index] = Place(pipeline.entries[index])
      }
      return latestPlaces
    }
  }

  /// Runs the request through the whole list.
  // Inlined, because a call waits in this function only once.
  @inline(__always)
  func run(_ original: NetworkRequest, in run: ChainRun) async throws -> NetworkResponse {
    var request = original
    // The key also protects from a repeat by the user, by another behavior, or on the way.
    if setsIdempotencyKeys, request.options.idempotencyKey != nil {
      request.setIdempotencyKey(making: RandomSource.uuid)
    }
    for observer in observers { observer.callStarted(request) }
    run.note(request.body)
    defer { run.end() }
    try checkCredentials(of: request)
    callNoting?.note(request.call)
    await beginOwners(of: request, at: run.places)
    return try await proceed(from: 0, request, in: run)
  }

  /// Returns the owners that a call begun for the request now would have, without sending it.
  func owners(of request: NetworkRequest) async -> CallOwner {
    await beginOwners(of: request, at: places())
    return request.call.owner
  }

  /// Asks the behaviors for the owners of a request's call.
  // Not inlined; see `intercept`.
  @inline(never)
  private func beginOwners(of request: NetworkRequest, at places: [Place]) async {
    // Behaviors are asked for owners only after the call has begun to watch for their end.
    if places.contains(where: { $0.toCall.contains(.scope) }) { request.call.beginOwner() }
    for (index, place) in places.enumerated() where place.toCall.contains(.scope) {
      guard isWanted(at: index, by: request) else {
        // The transport keeps the cookies of a login, which is sent before there is a user.
        (credentials[index] as? any AccountKnowing)?.noteClient(of: request.call)
        continue
      }
      // A redirect may lead to the origin of credentials that do not apply here. Their behavior records the signed-in
      // user, but does not own the response.
      guard let scope = await behavior(at: index, place).scope(for: request) else { continue }
      if credentials[index]?.applies(to: request) != false { request.call.add(scope: scope, of: index) }
    }
  }

  /// Throws if a request explicitly requires credentials that it cannot get.
  private func checkCredentials(of request: NetworkRequest) throws {
    let requirement = request.options.authentication
    if let name = requirement.onlyName, !credentialNames.contains(name) {
      throw NetworkError.noSuchSession(name, credentialNames)
    }
    guard let explicit = request.options.explicitAuthentication, !explicit.isOptional, let origin = request.origin
    else { return }
    let wanted = pipeline.entries.filter { entry in
      entry.credential.map { explicit.includes($0.credential) } ?? false
    }
    guard !wanted.isEmpty, !wanted.contains(where: { $0.credential?.applies(to: request) == true }) else { return }
    // A request with credentials of its own has what it requires, unless it requires those of one session.
    if explicit.onlyName == nil, request.call.userHeaders.contains(where: \.isNamedLikeCredential) { return }
    throw NetworkError.credentialsWithheld(
      wanted.map { ($0.name, $0.credential?.origins ?? .baseURL) }, from: origin, request)
  }

  /// Runs the behavior at an index, or the next one that takes part; after the last one, sends the request.
  func proceed(
    from start: Int, _ original: NetworkRequest, in run: ChainRun
  ) async throws -> NetworkResponse {
    let index = firstTakingPart(from: start, in: original, run)
    // All caches were asked, and the network may not be: no behavior further in may send, wait or count a failure.
    if start <= endOfCaches, endOfCaches <= index, original.options.caching == .onlyIfCached {
      return .gatewayTimeout(to: original)
    }
    let request = prepared(original, from: start, to: index, in: run)
    let response: NetworkResponse
    if index == run.places.count {
      response = try await send(request, in: run)
    } else if run.places[index].toCall.contains(.intercept) {
      response = try await intercept(at: index, request, in: run)
    } else {
      response = try await runHooks(at: index, request, in: run)
    }
    // An unverified response never counts as a success, so outer behaviors do not see it.
    guard response.isVerified || !response.hasAcceptedStatus else {
      response.body.cancel()
      throw NetworkError.unverified(response)
    }
    return response
  }

  /// Returns the index of the first behavior from an index on that takes part in a request; the number of all
  /// behaviors if the others do not.
  // Not inlined; see `intercept`.
  @inline(never)
  private func firstTakingPart(from start: Int, in request: NetworkRequest, _ run: ChainRun) -> Int {
    let places = run.places
    var index = start
    while index < places.count, places[index].hasCredential, !takesPart(at: index, in: request) { index += 1 }
    return index
  }

  /// Returns a request as the behavior at an index gets it, after the ones from another index on took no part.
  // Not inlined; see `intercept`.
  @inline(never)
  private func prepared(
    _ original: NetworkRequest, from start: Int, to index: Int, in run: ChainRun
  ) -> NetworkRequest {
    var request = original
    // The signature must cover the request as it is sent.
    if start <= endOfLimiters, endOfLimiters <= index { run.call.renew(&request) }
    // The last behaviors see what the transport gets.
    if start <= lastStart, index >= lastStart, index < run.places.count { withholdForeignSecrets(&request) }
    return request
  }

  /// Whether a behavior takes part in a request.
  ///
  /// A behavior that adds credentials does if they are wanted and may go to the request's origin.
  private func takesPart(at index: Int, in request: NetworkRequest) -> Bool {
    guard let credential = credentials[index], !credential.applies(to: request) else { return true }
    if let origin = request.origin, isWanted(at: index, by: request) {
      let name = pipeline.entries[index].name
      request.call.record(withheld: name, from: origin, by: name)
    }
    return false
  }

  /// Whether a request's options ask for the credentials of a behavior; true for a behavior without credentials.
  private func isWanted(at index: Int, by request: NetworkRequest) -> Bool {
    guard let credential = credentials[index] else { return true }
    return request.options.authentication.includes(credential.credential)
  }

  /// Runs the `intercept` of the behavior at an index.
  // Not inlined, and neither is what ends before or begins after the behaviors further in: an asynchronous function
  // keeps the memory of all that is inlined into it while it waits, and a request waits in one function for each
  // behavior. A kilobyte in each of them costs a request more time than the calls do.
  @inline(never)
  private func intercept(at index: Int, _ request: NetworkRequest, in run: ChainRun) async throws -> NetworkResponse {
    let step = run.beginStep()
    defer { run.endStep(step) }
    do {
      let next = Next(run: run, index: index, step: step, original: request)
      let response = try await behavior(at: index, run.places[index]).intercept(request, next: next)
      return try run.checkOwner(of: response, from: index)
    } catch {
      // The error may quote a secret that an outer behavior set on a request that was never sent.
      run.call.noteSecrets(in: request.headers)
      throw error
    }
  }

  /// Returns the behavior at an index, wrapped to learn which hooks are defaults as long as that is not known.
  func behavior(at index: Int, _ place: Place) -> any RequestBehavior {
    place.isKnown ? behaviors[index] : LearningBehavior(behavior: behaviors[index])
  }

  /// Returns the behavior at an index, wrapped as long as it is not known whether its `afterFailure` is a default.
  func failureHook(at index: Int, _ place: Place) -> any RequestBehavior {
    guard place.learnsFromFailure else { return behaviors[index] }
    // An earlier failure may have told since the request began; later requests then begin with that.
    let latest = Place(pipeline.entries[index])
    lock.withLock { latestPlaces[index] = latest }
    return latest.learnsFromFailure ? LearningBehavior(behavior: behaviors[index]) : behaviors[index]
  }

  // MARK: - The end of the list

  // Not inlined; see `intercept`.
  @inline(never)
  private func send(_ request: consuming NetworkRequest, in run: ChainRun) async throws -> NetworkResponse {
    try Task.checkCancellation()
    // The transport may still finish a token request.
    if lifetime.isShutDown { throw NetworkError.clientShutDown() }
    withholdForeignSecrets(&request)
    try request.verifyHedge()
    // No cache had a response, so none may come from the server either.
    if request.options.caching == .onlyIfCached { return .gatewayTimeout(to: request) }
    run.noteSecrets(addedByTransportTo: request)
    // Registered before the checks: a session that ends in between is either seen by a check or waits for this send.
    let (handOver, checks) = run.call.beginHandOver()
    defer { handOver?.end() }
    for check in checks { try check.run(request) }
    let number = try run.beginAttempt(request)
    request.attemptNumber = number
    for observer in attemptObservers { observer.attemptStarted(request) }
    do {
      let response = try await receive(request, ending: handOver)
      run.noteSecrets(addedByTransportTo: request)
      if case .stream(let stream) = response.body {
        run.endAttempt(number, with: response, at: stream, of: request)
      } else {
        run.endAttempt(number, with: response)
        reportEnd(of: number, request)
      }
      return response
    } catch {
      let failure = describe(error, request)
      request.call.noteSecrets(of: request)
      run.endAttempt(number, with: failure, of: request)
      reportEnd(of: number, request)
      throw failure
    }
  }

  /// Sends a request, and reads a streamed body into memory if the status is not acceptable.
  ///
  /// The reader of such a response only wants the reason, and would leave the transfer open.
  // Inlined, as `run` is.
  @inline(__always)
  private func receive(_ request: NetworkRequest, ending handOver: HandOver?) async throws -> NetworkResponse {
    let response =
      if let handOver {
        try await transport.send(request, ending: handOver, itself: endsHandOvers)
      } else {
        try await transport.send(request)
      }
    if Task.isCancelled {
      response.body.cancel()
      throw CancellationError()
    }
    guard request.options.delivery == .streamed, !response.hasAcceptedStatus else { return response }
    return try await response.excerpt()
  }

  private func reportEnd(of number: Int, _ request: NetworkRequest) {
    guard !attemptObservers.isEmpty else { return }
    let attempt = request.call.attempt(number)
    for observer in attemptObservers { observer.attemptEnded(attempt, of: request) }
  }

  /// Removes every sensitive field that is not for the request's origin, and adds all of them to the call's secrets.
  private func withholdForeignSecrets(_ request: inout NetworkRequest) {
    request.call.noteSecrets(in: request.headers)
    let withheld = request.headers.removeForeignSecrets(for: request.origin, base: request.call.baseOrigin)
    guard !withheld.isEmpty, let origin = request.origin else { return }
    for name in withheld { request.call.record(withheld: name, from: origin, by: "NetworkClient") }
  }

  /// Returns a cancellation for any error of a cancelled task; other errors get their request.
  private func describe(_ error: any Error, _ request: NetworkRequest) -> any Error {
    if Task.isCancelled { return CancellationError() }
    guard var described = error as? NetworkError else { return error }
    if described.request == nil { described.request = request }
    return described
  }
}
