#if canImport(ObjectiveC)
  public import Foundation

  extension TransferProgress {
    /// A direction of a transfer.
    public enum Direction: Sendable, Hashable {
      /// The request's body.
      case sending
      /// The response's body.
      case receiving
    }

    /// Returns a Foundation progress with the same counts, for views and for progress trees.
    ///
    /// Its unit is a byte. It is indeterminate while the length is unknown, and restarts with each transmission.
    /// Cancelling it has no effect: cancel the task that sends.
    ///
    /// - Parameter direction: The direction to count.
    /// - Returns: The progress; it is updated while this object exists.
    public func makeProgress(_ direction: Direction) -> Progress {
      let progress = Progress(totalUnitCount: -1)
      progress.isCancellable = false
      progress.kind = .file
      // Several threads report changes: the latest state must be the last one that is set.
      let lock = NSLock()
      follow { [weak progress] transfer in
        guard let progress else { return }
        lock.lock()
        defer { lock.unlock() }
        let state = transfer.state
        let isSending = direction == .sending
        let count = isSending ? state.sent : state.received
        // A call that has ended is complete, even if the length was never known.
        let total = (isSending ? state.expectedToSend : state.expectedToReceive) ?? (state.isFinished ? count : -1)
        progress.totalUnitCount = total
        progress.completedUnitCount = count
      }
      return progress
    }
  }
#endif
