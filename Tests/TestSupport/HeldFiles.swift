import Dispatch
import RequestBehaviors

/// Holds all threads on which the process reads files, as a disk that does not respond does.
///
/// It is for a process of its own, because other tests read files, too.
public final class HeldFiles: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  /// Holds the threads: no work on files that is added later begins before ``release()``.
  public init() {
    for _ in 0..<BlockingQueue.width {
      FileQueue.begin { [semaphore] in
        semaphore.wait()
      } completion: { _ in
      }
    }
  }

  /// Lets all work on files go on.
  public func release() { for _ in 0..<BlockingQueue.width { semaphore.signal() } }
}
