#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors

  /// The measurements of files that are to be sent.
  ///
  /// libcurl needs the length of a file before a transfer begins. A disk may not respond for a long time, so a send
  /// waits for the length no longer than its time limits allow, and not beyond the shutdown of its transport.
  final class FileMeasurements: Sendable {
    private struct State {
      var waiting: [ObjectIdentifier: Waiter<FileChunks>] = [:]
      var isClosed = false
    }

    private let state = Locked(State())

    /// Returns the bytes that a file has now.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - options: The options with the time limits of the send.
    ///   - clock: The clock of the time limits.
    /// - Returns: The bytes.
    /// - Throws: `NetworkError` of code `bodyUnreadable` if the file cannot be sent, `timedOut` or `clientShutDown`;
    ///   `CancellationError` as soon as the task is cancelled.
    func chunks(of file: URL, for options: RequestOptions, _ clock: RequestClock) async throws -> FileChunks {
      let waiter = Waiter<FileChunks>()
      let id = ObjectIdentifier(waiter)
      let isClosed = state.withLock { state in
        if !state.isClosed { state.waiting[id] = waiter }
        return state.isClosed
      }
      guard !isClosed else { throw NetworkError.clientShutDown() }
      defer { state.withLock { $0.waiting[id] = nil } }
      FileQueue.begin {
        try FileChunks(measuring: file)
      } completion: {
        waiter.settle($0)
      }
      let limits = TransferDeadline(idle: options.idleTimeout, total: options.timeout, start: .zero)
      let timer = limits.deadline.map { deadline in
        clock.schedule(after: deadline) {
          guard let expiry = limits.expiry(at: deadline) else { return }
          waiter.settle(.failure(NetworkError(.timedOut, expiry.message)))
        }
      }
      defer { timer?.cancel() }
      return try await waiter.value()
    }

    /// Ends the measurements under way, and refuses further ones.
    func close() {
      let waiting = state.withLock { state in
        state.isClosed = true
        return state.waiting.values
      }
      for waiter in waiting { waiter.settle(.failure(NetworkError.clientShutDown())) }
    }
  }
#endif
