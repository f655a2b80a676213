import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transfers in flight over the sessions of one transport.
///
/// Tasks are created, resumed and cancelled on one serial queue: on Linux these calls wait for URLSession, and threads
/// of Swift's pool must not wait. URLSession chooses the threads of the callbacks, which come one after the other.
final class TransferRegistry: NSObject, @unchecked Sendable {
  // Unchecked because the state that callbacks do not use is used on `queue` only; see below. The queue uses the shared
  // threads, which are awake more often than a thread of its own. That saves a request a thread change.
  let queue = DispatchQueue(label: "RequestBehaviors.URLSessionTransport", target: .global())
  /// Whether the platform adds cookies to requests.
  let addsCookies: Bool
  let hasOwnCookies: Bool
  /// The storage of the cookies, which other threads read, too.
  let cookies: Locked<HTTPCookieStorage?>
  private let delegateQueue: OperationQueue
  private let connectionReuse: URLSessionTransport.ConnectionReuse
  let spool: BodySpool
  let clock: RequestClock
  private let sessions: SessionCount
  /// The number of times that the cookies were asked to be forgotten.
  let currentJar = Locked(0)
  #if canImport(ObjectiveC)
    let serverTrust: ServerTrust
  #endif

  // Used on `queue` only. Without a session the registry is closed: idle connections live as long as the session.
  let configuration: URLSessionConfiguration
  var session: URLSession?
  /// Whether the session has been used for https.
  var hasUsedTLS = false
  /// The number of times that the cookies were forgotten, as far as the queue has come.
  var jarNumber = 0
  private var timer: DeadlineTimer

  private struct Table {
    var transfers: [ObjectIdentifier: Transfer] = [:]
    var deadlines = DeadlineTable<Transfer>()
  }

  // URLSession is never called under its lock.
  private let table = Locked(Table())

  init(
    _ configuration: URLSessionTransport.Configuration, spool: BodySpool, clock: RequestClock, sessions: SessionCount
  ) {
    let platform = configuration.makePlatform()
    self.configuration = platform.configuration
    hasOwnCookies = platform.hasOwnCookies
    cookies = Locked(platform.configuration.httpCookieStorage)
    addsCookies = platform.configuration.httpShouldSetCookies && platform.configuration.httpCookieStorage != nil
    #if canImport(ObjectiveC)
      serverTrust = ServerTrust(configuration.trust, configuration.identity)
    #endif
    #if canImport(FoundationNetworking)
      // The platform goes on keeping the cookies of responses. Those of requests are chosen here.
      platform.configuration.httpShouldSetCookies = false
    #endif
    self.connectionReuse = configuration.connectionReuse
    self.delegateQueue = DelegateQueue.make(over: queue)
    self.spool = spool
    self.clock = clock
    self.sessions = sessions
    self.timer = DeadlineTimer(clock: clock)
    super.init()
    // The session keeps its delegate alive until it is invalidated.
    session = makeSession()
  }

  func makeSession() -> URLSession {
    URLSession(configuration: configuration, delegate: self, delegateQueue: delegateQueue)
  }

  /// Starts a transfer.
  func start(_ transfer: Transfer) { queue.async { self.begin(transfer) } }

  /// Ends a transfer because its caller's task was cancelled.
  func cancel(_ transfer: Transfer) {
    // The caller continues at once. Waiting for the platform here would hold the lock that cancelling a task takes.
    guard transfer.settle(.failure(CancellationError())) else { return }
    abandon(transfer)
  }

  /// Ends a streamed body that is no longer read.
  func cancelBody(of transfer: Transfer) {
    transfer.stream?.cancel()
    abandon(transfer)
  }

  /// Ends the remaining work of a settled transfer.
  func abandon(_ transfer: Transfer) { queue.async { self.end(transfer) } }

  /// Ends all transfers, and refuses further ones.
  func close(completion: @escaping @Sendable () -> Void = {}) {
    queue.async {
      for transfer in self.table.withLock({ $0.deadlines.ids }) {
        transfer.failShutDown()
        self.end(transfer)
      }
      self.timer.stop()
      if let session = self.session { self.finish(session, hasUsedTLS: self.hasUsedTLS) }
      self.session = nil
      completion()
    }
  }
}

// MARK: - For callbacks

extension TransferRegistry {
  /// Returns the transfer of a task.
  func transfer(of task: URLSessionTask) -> Transfer? { table.withLock { $0.transfers[ObjectIdentifier(task)] } }

  /// Records that bytes were sent or received, or came from the source of the request's body.
  func touch(_ transfer: Transfer) {
    let now = clock.now()
    table.withLock { $0.deadlines.touch(transfer, at: now) }
  }

  /// Removes the total time limit of a stream's body, if its request says so and the response is acceptable.
  func didReceiveHead(of transfer: Transfer, status: Int) {
    let request = transfer.request
    guard transfer.stream != nil, request.options.timesEndAtHead, request.call.acceptableStatuses.contains(status)
    else {
      return
    }
    table.withLock { $0.deadlines.endTotal(transfer) }
  }

  /// Removes a task that has ended, and returns its transfer.
  func remove(_ task: URLSessionTask) -> Transfer? {
    table.withLock { table in
      guard let transfer = table.transfers.removeValue(forKey: ObjectIdentifier(task)) else { return nil }
      table.deadlines.remove(transfer)
      return transfer
    }
  }
}

// MARK: - On the queue

extension TransferRegistry {
  private func begin(_ transfer: Transfer) {
    guard let session else { return transfer.failShutDown() }
    guard !transfer.isSettled else { return }
    if failIfOfOldJar(transfer) { return }
    watch(transfer)
    switch transfer.request.body?.content {
    case nil: send(Data(), of: transfer, in: session)
    case .data(let data): send(data, of: transfer, in: session)
    case .file(let url): open(url, of: transfer)
    case .stream, .oneShot: readBody(of: transfer, in: session)
    }
  }

  func send(_ data: Data, of transfer: Transfer, in session: URLSession) {
    launch(of: transfer, in: session, isAlone: data.isEmpty && mayBeRepeated(transfer)) {
      $0.dataTask(with: transfer.urlRequest)
    }
  }

  /// Returns whether the upload of a body may damage the responses that share its connection.
  ///
  /// Over HTTP/2 an upload that has to wait does so, with a libcurl before 8.1. HTTP/2 needs TLS, and a body of one
  /// frame rarely waits.
  private func mayDamageOthers(_ transfer: Transfer) -> Bool {
    #if canImport(FoundationNetworking)
      guard PlatformCurl.damagesOthers, usesTLS(transfer) else { return false }
      let length = transfer.announcedLength ?? Int64(transfer.urlRequest.httpBody?.count ?? 0)
      return length > TransferRegistry.frameLength
    #else
      return false
    #endif
  }

  /// The most bytes of a frame, by default (RFC 9113 §4.2).
  private static let frameLength: Int64 = 16_384

  /// Returns whether URLSession may repeat a request without a body although the repeat might take effect twice.
  ///
  /// On Linux it repeats a request when a kept-alive connection dies before the response begins. For a request with a
  /// body a callback can stop the repeat. Without a body there is no callback.
  private func mayBeRepeated(_ transfer: Transfer) -> Bool {
    #if canImport(FoundationNetworking)
      !transfer.request.method.isIdempotent
    #else
      false
    #endif
  }

  /// Sends a request, over a connection of its own if the transport's settings or the request demand it.
  ///
  /// A new session has no connection to reuse. The request asks the server to close the connection (RFC 9112 §9.6). Not
  /// every server does so, and over HTTP/2 none does (RFC 9113 §8.2.2).
  func launch(
    of transfer: Transfer, in session: URLSession, isAlone: Bool, _ makeTask: (URLSession) -> URLSessionTask
  ) {
    let isAlone = isAlone || !connectionReuse.includes(transfer.request.method) || mayDamageOthers(transfer)
    let usesTLS = usesTLS(transfer)
    if isAlone, usesTLS, sessions.isFull { return failForSessions(transfer) }
    if !isAlone, usesTLS { hasUsedTLS = true }
    #if canImport(FoundationNetworking)
      if isAlone, transfer.urlRequest.value(forHTTPHeaderField: "Connection") == nil {
        transfer.urlRequest.setValue("close", forHTTPHeaderField: "Connection")
      }
    #endif
    let session = isAlone ? makeSession() : session
    #if canImport(FoundationNetworking)
      addCookies(to: transfer, in: session)
    #endif
    let task = makeTask(session)
    transfer.task = task
    table.withLock { $0.transfers[ObjectIdentifier(task)] = transfer }
    task.resume()
    if isAlone { finish(session, hasUsedTLS: usesTLS, only: task) }
  }

  /// Fails a transfer that needs a session of its own while so many stay that the process might run out of descriptors.
  private func failForSessions(_ transfer: Transfer) {
    let error = NetworkError(
      .concurrencyLimited,
      "the request needs a connection of its own, and URLSession holds too many of earlier requests, each for about two "
        + "minutes (libcurl 8.9 and later); use the CurlTransport, or send fewer such requests")
    abort(transfer, with: error)
  }

  /// Ends a transfer with an error, which tells how far the transfer has come.
  func abort(_ transfer: Transfer, with error: any Error) {
    var described = error as? NetworkError
    described?.progress = NetworkError.Progress(transfer.stage)
    transfer.fail(described ?? error)
    end(transfer)
  }

  private func usesTLS(_ transfer: Transfer) -> Bool { transfer.urlRequest.url?.scheme?.lowercased() == "https" }

  /// Ends a session after its tasks.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - hasUsedTLS: Whether it has been used for https.
  ///   - task: The only task that it has had; `nil` if it may have had several.
  func finish(_ session: URLSession, hasUsedTLS: Bool, only task: URLSessionTask? = nil) {
    #if canImport(FoundationNetworking)
      if hasUsedTLS, PlatformCurl.failsAtTheEndOfSessions {
        return SessionRetirement(count: sessions).begin(session, only: task)
      }
    #endif
    session.finishTasksAndInvalidate()
  }

  func end(_ transfer: Transfer) {
    table.withLock { $0.deadlines.remove(transfer) }
    transfer.reading?.cancel()
    transfer.reading = nil
    // A task that has ended is not in the registry.
    if let task = transfer.task, self.transfer(of: task) != nil { task.cancel() }
  }
}

// MARK: - Streams, on the queue

extension TransferRegistry {
  private func readBody(of transfer: Transfer, in session: URLSession) {
    if let spooled = transfer.request.spooledContent {
      return send(spooled, of: transfer, in: session)
    }
    transfer.reading = BodyReader(transfer.request, spool) { [self] in
      touch(transfer)
    } completion: { [self] result in
      queue.async { self.didReadBody(result, of: transfer) }
    }
  }

  private func didReadBody(_ result: Result<SpooledContent, any Error>, of transfer: Transfer) {
    transfer.reading = nil
    goOn(transfer, after: result) { session, spooled in
      transfer.request.spooledContent = spooled
      guard mayStillBeSent(transfer) else { return }
      send(spooled, of: transfer, in: session)
    }
  }

  /// Goes on with a transfer that has waited for its body.
  ///
  /// - Parameters:
  ///   - transfer: The transfer.
  ///   - result: What was read.
  ///   - send: Sends that in the session.
  func goOn<Content>(
    _ transfer: Transfer, after result: Result<Content, any Error>, _ send: (URLSession, Content) -> Void
  ) {
    guard !transfer.isSettled else { return }
    touch(transfer)
    // The cookies may have been forgotten meanwhile, and with them the session that the transfer began in.
    if failIfOfOldJar(transfer) { return }
    guard let session else { return transfer.failShutDown() }
    switch result {
    case .failure(let error): abort(transfer, with: error)
    case .success(let content): send(session, content)
    }
  }

  /// Checks a request once more, because the user may have signed out while it was on its way here.
  ///
  /// If the check fails, so does the transfer.
  func mayStillBeSent(_ transfer: Transfer) -> Bool {
    do {
      try transfer.request.call.verifySend(of: transfer.request)
      return true
    } catch {
      abort(transfer, with: error)
      return false
    }
  }

  private func send(_ spooled: SpooledContent, of transfer: Transfer, in session: URLSession) {
    switch spooled {
    case .memory(let data):
      transfer.urlRequest.httpBody = data
      send(data, of: transfer, in: session)
    case .file(let file, let length):
      transfer.spooledBody = file
      transfer.announcedLength = length
      send(file.url, length, of: transfer, in: session, isAlone: false)
    }
  }
}

// MARK: - Deadlines, on the queue

extension TransferRegistry {
  private func watch(_ transfer: Transfer) {
    let options = transfer.request.options
    let now = clock.now()
    let deadline = table.withLock {
      $0.deadlines.insert(transfer, idle: options.idleTimeout, total: options.timeout, at: now)
    }
    if let deadline { arm(deadline) }
  }

  private func arm(_ deadline: Duration) {
    timer.arm(deadline, fire: { [weak self] in self?.timerFired() })
  }

  private func timerFired() { queue.async { self.expire() } }

  private func expire() {
    timer.stop()
    let now = clock.now()
    for (transfer, expiry) in table.withLock({ $0.deadlines.expired(at: now) }) {
      var error = NetworkError(.timedOut, expiry.message)
      error.progress = NetworkError.Progress(transfer.stage)
      transfer.fail(error)
      end(transfer)
    }
    if let next = table.withLock({ $0.deadlines.earliest }) { arm(next) }
  }
}
