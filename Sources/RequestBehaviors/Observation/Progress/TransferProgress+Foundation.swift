#if canImport(ObjectiveC)
  public import Foundation

  extension TransferProgress {
    /// One of the two ways of a transfer.
    public enum Direction: Sendable, Hashable {
      /// The request's body.
      case sending
      /// The response's body.
      case receiving
    }

    /// Returns the platform's form of the progress, for views and for trees of progress that take one.
    ///
    /// Its unit is a byte. It is indeterminate for as long as the length is not known, and begins anew with each
    /// transmission. Cancelling it does nothing: cancel the task that sends.
    ///
    /// - Parameter direction: Which bytes it counts.
    /// - Returns: The progress, which is kept up to date for as long as this one lives.
    public func makeProgress(_ direction: Direction) -> Progress {
      let progress = Progress(totalUnitCount: -1)
      progress.isCancellable = false
      progress.kind = .file
      // Changes are told by several threads: the latest state must be the last that is set.
      let lock = NSLock()
      follow { [weak progress] transfer in
        guard let progress else { return }
        lock.lock()
        defer { lock.unlock() }
        let state = transfer.state
        let isSending = direction == .sending
        let count = isSending ? state.sent : state.received
        // A call that has ended is complete, whether or not anybody knew the length before.
        let total = (isSending ? state.expectedToSend : state.expectedToReceive) ?? (state.isFinished ? count : -1)
        progress.totalUnitCount = total
        progress.completedUnitCount = count
      }
      return progress
    }
  }
#endif
