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
  let queue = DispatchQueue(label: "RequestBehaviors.URLSessionTransport")
  let delegateQueue: OperationQueue
  private let clock: RequestClock
  private var transfers: [ObjectIdentifier: Transfer] = [:]
  private var deadlines = DeadlineTable<ObjectIdentifier>()
  private var timer: DeadlineTimer
  private var isClosed = false

  init(clock: RequestClock) {
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

  /// Ends all transfers, and refuses further ones.
  func close(_ session: URLSession, completion: @escaping @Sendable () -> Void = {}) {
    queue.async {
      self.close()
      session.invalidateAndCancel()
      completion()
    }
  }

  /// Returns the transfer of a task; on the queue only.
  func transfer(of task: URLSessionTask) -> Transfer? { transfers[ObjectIdentifier(task)] }

  /// Notes that a byte went one way or the other; on the queue only.
  func touch(_ transfer: Transfer) { deadlines.touch(ObjectIdentifier(transfer), at: clock.now()) }

  /// Ends the task of a settled transfer; on the queue only.
  func abandon(_ transfer: Transfer) {
    deadlines.remove(ObjectIdentifier(transfer))
    transfer.task?.cancel()
  }

  /// Forgets a transfer whose task has ended; on the queue only.
  func forget(_ transfer: Transfer) {
    deadlines.remove(ObjectIdentifier(transfer))
    guard let task = transfer.task else { return }
    transfers[ObjectIdentifier(task)] = nil
    transfer.task = nil
  }

  private func begin(_ transfer: Transfer, in session: URLSession) {
    guard !isClosed else {
      transfer.fail(.clientShutDown, TransferRegistry.shutDownMessage)
      return
    }
    guard !transfer.isSettled else { return }
    let task = session.dataTask(with: transfer.urlRequest)
    transfer.task = task
    transfers[ObjectIdentifier(task)] = transfer
    watch(transfer)
    task.resume()
  }

  private func close() {
    guard !isClosed else { return }
    isClosed = true
    timer.stop()
    let all = transfers.values
    transfers = [:]
    for transfer in all {
      transfer.fail(.clientShutDown, TransferRegistry.shutDownMessage)
      abandon(transfer)
      transfer.task = nil
    }
  }

  private static let shutDownMessage = "the client was shut down; make a new one"
}

// MARK: - Deadlines

extension TransferRegistry {
  private func watch(_ transfer: Transfer) {
    let options = transfer.request.options
    let now = clock.now()
    let deadline = deadlines.insert(
      ObjectIdentifier(transfer), idle: options.idleTimeout, total: options.timeout, at: now)
    if let deadline { arm(deadline) }
  }

  private func arm(_ deadline: Duration) {
    timer.arm(deadline) { [weak self] in
      self?.queue.async { self?.expire() }
    }
  }

  private func expire() {
    timer.stop()
    let now = clock.now()
    for transfer in transfers.values {
      guard let expiry = deadlines.expiry(of: ObjectIdentifier(transfer), at: now) else { continue }
      transfer.fail(.timedOut, expiry.message)
      abandon(transfer)
    }
    if let next = deadlines.earliest { arm(next) }
  }
}
