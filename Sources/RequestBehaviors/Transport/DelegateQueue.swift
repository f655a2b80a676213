import Dispatch
import Foundation

/// Makes the operation queue on which a session calls its delegate.
enum DelegateQueue {
  /// Makes a queue that runs one callback at a time, on Apple platforms over the given queue.
  static func make(over queue: DispatchQueue) -> OperationQueue {
    #if canImport(FoundationNetworking)
      return InlineOperationQueue()
    #else
      let operations = OperationQueue()
      operations.maxConcurrentOperationCount = 1
      operations.underlyingQueue = queue
      return operations
    #endif
  }
}

#if canImport(FoundationNetworking)
  /// An operation queue that runs each block at once, where it is added.
  ///
  /// URLSession on Linux does all its work on one serial queue and adds a block for every callback from there, so that
  /// the order stays. To run it there spares a request three changes of thread, and chunks cannot pile up unread: they
  /// would, without limit. In return a callback must be quick, for it holds up every session of the process, and must
  /// call nothing that waits for that queue: neither `resume()` nor `cancel()`.
  private final class InlineOperationQueue: OperationQueue, @unchecked Sendable {
    // Unchecked because the superclass is; it adds no state.
    override init() {
      super.init()
      maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif
