import Dispatch
import Foundation

/// Makes the operation queue on which a session calls its delegate, over a serial dispatch queue.
enum DelegateQueue {
  static func make(over queue: DispatchQueue) -> OperationQueue {
    #if canImport(FoundationNetworking)
      return DirectOperationQueue(queue)
    #else
      let operations = OperationQueue()
      operations.maxConcurrentOperationCount = 1
      operations.underlyingQueue = queue
      return operations
    #endif
  }
}

#if canImport(FoundationNetworking)
  /// An operation queue that hands blocks to a serial dispatch queue without making operations of them.
  ///
  /// URLSession on Linux adds a block for every chunk; operations for them cost more time than the rest of the delivery,
  /// and the blocks pile up faster than they are run.
  private final class DirectOperationQueue: OperationQueue, @unchecked Sendable {
    // Unchecked only because the superclass is; the one property is a constant.
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) {
      self.queue = queue
      super.init()
      maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }
  }
#endif
