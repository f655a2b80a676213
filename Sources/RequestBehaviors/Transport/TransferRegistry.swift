import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What is in flight over the sessions of one transport.
///
/// Everything happens on one serial queue, which is also the one that sessions call their delegate on. So no callback of
/// a task can come between a look at its transfer and a cancellation; and `resume()`, `cancel()` and the creation of
/// tasks, which block on Linux, block no thread of Swift's pool.
final class TransferRegistry: NSObject, @unchecked Sendable {
  // Unchecked because all mutable state is used on `queue` only.
  private let queue = DispatchQueue(label: "RequestBehaviors.URLSessionTransport")
  let delegateQueue: OperationQueue
  private let spool: BodySpool
  private let clock: RequestClock
  private var transfers: [ObjectIdentifier: Transfer] = [:]
  private var deadlines = DeadlineTable<Transfer>()
  private var timer: DeadlineTimer
  private var isClosed = false

  init(spool: BodySpool, clock: RequestClock) {
    self.spool = spool
    self.clock = clock
    self.timer = DeadlineTimer(clock: clock)
    self.delegateQueue = DelegateQueue.make(over: queue)
  }

  /// Starts a transfer.
  func start(_ transfer: Transfer, in session: URLSession) {
    queue.async { self.begin(transfer, in: session) }
  }

  /// Ends a transfer because its caller's task was cancelled.
  func cancel(_ transfer: Transfer) {
    // The caller goes on at once; to wait for the platform here would hold the lock that cancelling a task takes.
    guard transfer.settle(.failure(CancellationError())) else { return }
    queue.async { self.abandon(transfer) }
  }

  /// Ends a transfer whose connection died while its body was under way; from any thread.
  func refuseToSendAgain(_ task: URLSessionTask) {
    queue.async {
      guard let transfer = self.transfer(of: task) else { return }
      transfer.fail(.connectionLost, "the connection was lost while the body was sent")
      self.abandon(transfer)
    }
  }

  /// Ends all transfers, and refuses further ones.
  func close(_ session: URLSession, completion: @escaping @Sendable () -> Void = {}) {
    queue.async {
      self.close()
      session.invalidateAndCancel()
      completion()
    }
  }

  private func close() {
    isClosed = true
    timer.stop()
    for transfer in deadlines.ids {
      transfer.fail(.clientShutDown, TransferRegistry.shutDownMessage)
      abandon(transfer)
    }
    transfers = [:]
  }

  private static let shutDownMessage = "the client was shut down; make a new one"
}

// MARK: - From the beginning to the end, on the queue

extension TransferRegistry {
  private func begin(_ transfer: Transfer, in session: URLSession) {
    guard !isClosed else {
      transfer.fail(.clientShutDown, TransferRegistry.shutDownMessage)
      return
    }
    guard !transfer.isSettled else { return }
    watch(transfer)
    switch transfer.request.body?.content {
    case nil: send(Data(), of: transfer, in: session)
    case .data(let data): send(data, of: transfer, in: session)
    case .file(let url): send(url, of: transfer, in: session)
    case .stream, .oneShot: readBody(of: transfer, in: session)
    }
  }

  private func send(_ data: Data, of transfer: Transfer, in session: URLSession) {
    #if canImport(FoundationNetworking)
      guard !data.isEmpty || transfer.request.method.isIdempotent else { return sendAlone(transfer, like: session) }
    #endif
    launch(session.dataTask(with: transfer.urlRequest), of: transfer)
  }

  private func send(_ file: URL, of transfer: Transfer, in session: URLSession) {
    do {
      // Without a byte there is nothing to read, and one way less to send such a request.
      guard try Upload.length(of: file) > 0 else { return send(Data(), of: transfer, in: session) }
      launch(session.uploadTask(with: transfer.urlRequest, fromFile: file), of: transfer)
    } catch {
      transfer.fail(error)
      abandon(transfer)
    }
  }

  #if canImport(FoundationNetworking)
    /// Sends over a connection that was not used before.
    ///
    /// When a kept-alive connection dies before the answer begins, URLSession on Linux sends the request again. With a
    /// body that can be seen and stopped; without one nothing tells of it, and a `POST` might take effect twice. A
    /// session of its own has no connection that it could send again for. (`Connection: close` would need a server that
    /// obeys it.)
    private func sendAlone(_ transfer: Transfer, like session: URLSession) {
      let own = URLSession(configuration: session.configuration, delegate: self, delegateQueue: delegateQueue)
      launch(own.dataTask(with: transfer.urlRequest), of: transfer)
      own.finishTasksAndInvalidate()
    }
  #endif

  private func launch(_ task: URLSessionTask, of transfer: Transfer) {
    transfer.task = task
    transfers[ObjectIdentifier(task)] = transfer
    task.resume()
  }

  /// Returns the transfer of a task.
  func transfer(of task: URLSessionTask) -> Transfer? { transfers[ObjectIdentifier(task)] }

  /// Ends what a settled transfer still does.
  func abandon(_ transfer: Transfer) {
    deadlines.remove(transfer)
    transfer.reading?.cancel()
    transfer.reading = nil
    transfer.task?.cancel()
  }

  /// Forgets a transfer whose task has ended.
  func forget(_ transfer: Transfer, _ task: URLSessionTask) {
    deadlines.remove(transfer)
    transfers[ObjectIdentifier(task)] = nil
    transfer.task = nil
  }
}

// MARK: - Streams

extension TransferRegistry {
  private func readBody(of transfer: Transfer, in session: URLSession) {
    transfer.reading = Upload(transfer.request, spool) { [self] result in
      queue.async { self.didReadBody(result, of: transfer, in: session) }
    }
  }

  private func didReadBody(
    _ result: Result<BodySpool.Spooled, any Error>, of transfer: Transfer, in session: URLSession
  ) {
    transfer.reading = nil
    guard !transfer.isSettled else { return }
    touch(transfer)
    switch result {
    case .failure(let error):
      transfer.fail(error)
      abandon(transfer)
    case .success(.memory(let data)):
      transfer.urlRequest.httpBody = data
      send(data, of: transfer, in: session)
    case .success(.file(let file)):
      transfer.spooledBody = file
      send(file.url, of: transfer, in: session)
    }
  }
}

// MARK: - Deadlines

extension TransferRegistry {
  /// Notes that a byte went one way or the other.
  func touch(_ transfer: Transfer) { deadlines.touch(transfer, at: clock.now()) }

  private func watch(_ transfer: Transfer) {
    let options = transfer.request.options
    let deadline = deadlines.insert(transfer, idle: options.idleTimeout, total: options.timeout, at: clock.now())
    if let deadline { arm(deadline) }
  }

  private func arm(_ deadline: Duration) {
    timer.arm(deadline) { [weak self] in
      self?.queue.async { self?.expire() }
    }
  }

  private func expire() {
    timer.stop()
    for (transfer, expiry) in deadlines.expired(at: clock.now()) {
      transfer.fail(.timedOut, expiry.message)
      abandon(transfer)
    }
    if let next = deadlines.earliest { arm(next) }
  }
}
