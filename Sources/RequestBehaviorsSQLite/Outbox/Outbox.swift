public import Foundation
public import RequestBehaviors

/// A queue of requests that must arrive, in the user's own SQLite file.
///
/// A request is in the file before the user moves on, is sent when the network permits, and leaves the queue only when
/// the server has verifiably taken it.
///
/// ```swift
/// let outbox = try await Outbox(
///   store, client: client, operations: [CreateNote.self])
/// outbox.start()
///
/// try await outbox.write { db, queue in
///   try db.save([note], into: "note")
///   try queue.enqueue(CreateNote(note: note), in: db)
/// }
/// ```
///
/// Each entry is delivered at least once, all its requests have one idempotency key, and the entries of a lane are
/// delivered in the order in which they were enqueued. A request whose response is lost is sent again: the server must
/// know the key, or must not mind a second request.
///
/// Make one outbox for a file and share it. Where several are open on one file, in one process or several, one of them
/// sends. An entry belongs to the user who was signed in when it was enqueued, and is sent as that user or not at all.
///
/// While no request reaches the server, one request tries again after 1, 2, 4 … 60 seconds.
/// While a token has expired and cannot be refreshed, the entries of its user wait in the same way, and no others. A
/// sign-in and a `drain` end that wait.
/// If the client lists `.offline(_:)`, the next network that the device gets is tried at once.
///
/// Dropping the outbox or shutting its client down ends sending.
public final class Outbox: Sendable {
  let core: OutboxCore
  private let drainer: OutboxDrainer
  private let listener: OutboxListener
  private let ending: UInt64?
  private let connectivity: (source: Connectivity, listener: UInt64)?

  /// Opens the queue and brings its tables up to date; sends nothing.
  ///
  /// With ``OutboxConfiguration/SignOut/discard`` it removes the entries of users who have left in the meantime.
  ///
  /// - Parameters:
  ///   - store: The store, mostly the one with the user's rows.
  ///   - client: The client that sends. Its retries, hedging and caching do not apply to the entries.
  ///   - name: The name of the queue in the file; empty by default. Two accounts with a client each have two names.
  ///   - operations: The types of the operations.
  ///   - configuration: The settings.
  /// - Throws: `NetworkError` of code `invalidBehavior` if responses are to be verified and no behavior does so, and
  ///   of code `invalidURL` if the client has no base URL. ``OutboxError`` of code
  ///   ``OutboxError/Code-swift.struct/invalidOperations`` or ``OutboxError/Code-swift.struct/newerFile``.
  ///   ``SQLiteError``.
  public init(
    _ store: SQLiteStore, client: NetworkClient, name: String = "", operations: [any OutboxOperation.Type],
    configuration: OutboxConfiguration = OutboxConfiguration()
  ) async throws {
    let handlers = try OutboxHandler.table(operations)
    let listener = OutboxListener()
    let variant = client.with { $0.behaviors += [listener, OutboxGuard(), OutboxHops()] as [any RequestBehavior] }
    if configuration.trust.needsVerification, try !variant.verifies() { throw Outbox.unverified }
    let owners = try await variant.owners()
    guard let origin = variant.configuration.options.environment?.origin else {
      throw NetworkError(.invalidURL, "the client has no base URL, to which an outbox sends")
    }
    try await store.write(durability: .full) { try OutboxSchema.migrate($0) }
    let core = OutboxCore(store, variant, name, handlers, configuration, origin, owners)
    let drainer = OutboxDrainer(core)
    (self.core, self.drainer, self.listener) = (core, drainer, listener)
    listener.onEnd { [weak core] scope in await core?.ownerEnded(scope) }
    ending = variant.addEnding { [weak drainer] in drainer?.end() }
    connectivity = variant.connectivity.map { source in
      (source, source.addListener { [weak drainer] in drainer?.endPauses() })
    }
    if ending == nil { drainer.end() }
    try await core.followClock()
    try await core.sweepFiles()
    // Users may have left while no outbox was open. What fails is done when sending begins.
    _ = try? await core.discardLeft(readingBy: variant.readSessionsAgain)
  }

  deinit {
    if let ending { core.client.removeEnding(ending) }
    if let connectivity { connectivity.source.removeListener(connectivity.listener) }
    drainer.end()
    core.broadcast.finish()
  }

  private static var unverified: NetworkError {
    NetworkError(
      .invalidBehavior,
      "no behavior of the client verifies that responses come from the server, so that a captive portal's would remove "
        + "entries; list a verification such as .nonceVerification(), or recognize the server's responses by "
        + "OutboxConfiguration(trust: .when { … }), or accept everyone's by .anyone")
  }

  // MARK: Sending

  /// Begins to send, until ``stop()``; it does nothing when sending has begun.
  public func start() { drainer.start() }

  /// Ends sending, and returns when the requests under way are cancelled and their claims given back.
  ///
  /// In a behavior that serves the request of an entry it returns when that request is cancelled: it cannot wait for
  /// its end. The same holds within `scopeEnded(_:)` of any behavior while such a behavior signs a user out. A task
  /// that the behavior creates waits for that end, so the behavior must not wait for a task that calls this.
  public func stop() async { await drainer.stop() }

  /// Ends sending until ``resume()``.
  ///
  /// Call it before ``SQLiteStore/suspend()``. In a behavior that serves the request of an entry it does not wait for
  /// that request, as ``stop()``.
  public func suspend() async { await drainer.suspend() }

  /// Goes on as before ``suspend()``.
  public func resume() { drainer.resume() }

  /// Sends what is due, and returns when nothing more is.
  ///
  /// It ends the pauses after which a bad network, or a user without a token, is tried again. While another process
  /// sends, it waits for that one. After ``suspend()`` it returns at once. It waits for all requests under way: a
  /// behavior that serves the request of an entry would wait for itself, and calls it in a task of its own.
  ///
  /// - Parameter limit: The longest time to take; the requests under way then go on if ``start()`` was called, and are
  ///   cancelled otherwise. Within it, a bad network is tried again, and so is an entry whose wait ends within it
  ///   (``OutboxSummary/nextAttempt``). By default there is no such time, and it returns as soon as the server cannot
  ///   be reached or only such entries are left.
  /// - Returns: The numbers of entries that are left.
  /// - Throws: `NetworkError` of code `clientShutDown`, ``SQLiteError``, or `CancellationError`.
  @discardableResult
  public func drain(for limit: Duration? = nil) async throws -> OutboxSummary {
    let drainer = drainer
    if let limit {
      let end = core.clock.now() + limit
      let work = Task { try await drainer.drain(until: end) }
      let timer = core.clock.schedule(after: limit) { work.cancel() }
      defer { timer.cancel() }
      do {
        try await withTaskCancellationHandler {
          try await work.value
        } onCancel: {
          work.cancel()
        }
      } catch is CancellationError where !Task.isCancelled {
        await drainer.cancelUnlessStarted()
      }
    } else {
      try await drainer.drain(until: nil)
    }
    let core = core
    return try await core.store.read { try core.summary(in: $0) }
  }

  /// Returns a stream of what happens, from now on; a slow loop gets the newest 1,000.
  ///
  /// It ends with the outbox.
  public func events() -> AsyncStream<OutboxEvent> { core.broadcast.subscribe() }

  // MARK: Attachments

  /// Takes a file over, so that an operation can have it as an ``OutboxAttachment``.
  ///
  /// The file is in the outbox's folder, and survives a power cut, when this returns. It is removed a day later if no
  /// entry has it by then. That includes a moved file whose process ended before its entry was stored: copy a file
  /// that is nowhere else.
  ///
  /// - Parameters:
  ///   - file: The URL of the file; a symbolic link is followed.
  ///   - moving: Whether the file is moved; by default it is copied.
  /// - Returns: The attachment.
  /// - Throws: The error of the file system; ``SQLiteError`` of code ``SQLiteError/Code/misuse`` for a folder, and for
  ///   a database in memory.
  public func attach(_ file: URL, moving: Bool = false) async throws -> OutboxAttachment {
    guard let files = core.files else {
      throw SQLiteError(.misuse, "an outbox in memory has no folder for attachments; open the store with a file")
    }
    return OutboxAttachment(url: try await files.add(file, moving: moving, now: core.clock.date()))
  }
}
