#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors

  /// The bytes of a request's body on their way to libcurl: from memory, or from a stream that waits while libcurl
  /// does.
  final class CurlUpload: Sendable {
    /// The result of a read by libcurl.
    enum Reading {
      case bytes(Int)
      /// There are no bytes yet. The loop is told when there are.
      case notYet
      case end
      case failed(NetworkError)
    }

    fileprivate struct State {
      var chunk = Data()
      var isComplete = false
      var failure: NetworkError?
      /// How many bytes the stream has delivered.
      var count: Int64 = 0
      /// Whether libcurl found no bytes, and waits.
      var isStarving = false
      var isOver = false
      /// Whether the body waits for the server's permission to send (`100 Continue`).
      var awaitsLeave = false
      /// Ends that wait.
      ///
      /// It is called once there is a connection.
      var endWait: (@Sendable () async -> Void)?
      var wait: Task<Void, Never>?
      /// The reader of the stream, while it waits until the chunk has been taken.
      var source: UnsafeContinuation<Void, Never>?
      /// Begins to read the stream; `nil` once it has begun.
      var begin: (@Sendable () -> Void)?
      var pump: Task<Void, Never>?
      var lastChunk: Duration?
    }

    /// The number of bytes; `nil` if the stream does not say.
    let length: Int64?
    private let data: Data?
    private let stream: ByteStream?
    private let state: Locked<State>

    /// Creates an upload of bytes in memory.
    init(_ data: Data) {
      length = Int64(data.count)
      self.data = data
      stream = nil
      state = Locked(State(chunk: data, isComplete: true))
    }

    /// Creates an upload of a stream.
    init(_ stream: ByteStream, length: Int64?) {
      self.length = length
      data = nil
      self.stream = stream
      state = Locked(State())
    }

    /// Whether the bytes come from a stream or a file.
    var isStream: Bool { stream != nil }

    /// When the stream delivered its last chunk, on the transport's clock.
    var lastActivity: Duration? { stream == nil ? nil : state.withLock { $0.lastChunk } }

    /// Returns whether libcurl waits although there are bytes for it, and resets that.
    func takeWakeup() -> Bool {
      state.withLock { state in
        guard state.isStarving, state.isReady, !state.awaitsLeave else { return false }
        state.isStarving = false
        return true
      }
    }

    /// Begins again with the first byte.
    ///
    /// Returns false if the body is a stream that has been read: its bytes are gone.
    func rewind() -> Bool {
      state.withLock { state in
        guard let data else { return state.begin != nil }
        state.chunk = data
        return true
      }
    }

    /// Copies bytes to libcurl.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
      // The stream is read from the first time that libcurl asks for bytes: there is a connection then. It begins
      // outside of the lock, because its start takes the lock, too.
      let (mayBegin, begin) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
        guard !state.awaitsLeave else {
          state.isStarving = true
          return (false, nil)
        }
        defer { state.begin = nil }
        return (true, state.begin)
      }
      guard mayBegin else { return .notYet }
      begin?()
      let (reading, source) = state.withLock { state -> (Reading, UnsafeContinuation<Void, Never>?) in
        if let failure = state.failure { return (.failed(failure), nil) }
        // The stream is read further only when its chunk has been taken, so that a slow server slows down the stream.
        if !state.chunk.isEmpty {
          let count = min(state.chunk.count, buffer.count)
          state.chunk.copyBytes(to: buffer, count: count)
          state.chunk = state.chunk.count == count ? Data() : state.chunk.dropFirst(count)
          guard state.chunk.isEmpty else { return (.bytes(count), nil) }
          defer { state.source = nil }
          return (.bytes(count), state.source)
        }
        if state.isComplete { return (.end, nil) }
        state.isStarving = true
        return (.notYet, nil)
      }
      source?.resume()
      return reading
    }
  }

  extension CurlUpload.State {
    fileprivate var isReady: Bool { !chunk.isEmpty || isComplete || failure != nil }
  }

  // MARK: - The server's permission

  extension CurlUpload {
    /// How long the body waits for a server that does not know `Expect`.
    private static let patience: Duration = .seconds(1)

    /// Makes the body wait until the server gives permission, or for one second (RFC 9110 §10.1.1).
    ///
    /// - Parameters:
    ///   - clock: The clock that measures the second.
    ///   - wake: Called when the second is over.
    func awaitLeave(clock: RequestClock, wake: @escaping @Sendable () -> Void) {
      state.withLock { state in
        state.awaitsLeave = true
        state.endWait = { [weak self] in
          guard (try? await clock.sleep(for: CurlUpload.patience)) != nil else { return }
          self?.allow()
          wake()
        }
      }
    }

    /// Starts the second: the head of the request is sent now.
    func connectionIsReady() {
      state.withLock { state in
        guard state.awaitsLeave, !state.isOver, let endWait = state.endWait else { return }
        state.endWait = nil
        state.wait = Task.detached { await endWait() }
      }
    }

    /// Allows the body to be sent.
    func allow() {
      let wait = state.withLock { state in
        state.awaitsLeave = false
        defer { state.wait = nil }
        return state.wait
      }
      wait?.cancel()
    }
  }

  // MARK: - The stream

  extension CurlUpload {
    /// Prepares the stream.
    ///
    /// It is read one chunk ahead of libcurl, and from the moment when libcurl first asks for bytes: there is a
    /// connection then.
    ///
    /// - Parameters:
    ///   - clock: The clock that tells when a chunk came.
    ///   - wake: Called when libcurl waits and there are bytes for it.
    func start(clock: RequestClock, wake: @escaping @Sendable () -> Void) {
      guard let stream else { return }
      state.withLock { state in
        if !state.isOver { state.begin = { [self] in pump(stream, clock, wake) } }
      }
    }

    private func pump(_ stream: ByteStream, _ clock: RequestClock, _ wake: @escaping @Sendable () -> Void) {
      let pump = Task {
        do {
          // libcurl ends the body after the announced number of bytes. The last chunk is held back until the stream has
          // ended, so that surplus bytes are noticed.
          var last = Data()
          for try await chunk in stream where !chunk.isEmpty {
            if try self.count(chunk, at: clock.now()) {
              last = chunk
            } else {
              try self.offer(chunk, wake)
              await self.waitUntilTaken()
            }
          }
          // A cancelled stream may end early without an error. It is not complete then.
          guard !Task.isCancelled else { return }
          if !last.isEmpty {
            try self.offer(last, wake)
            await self.waitUntilTaken()
          }
          try self.complete(wake)
        } catch {
          self.fail(error, wake)
        }
      }
      let isOver = state.withLock { state in
        state.pump = pump
        return state.isOver
      }
      if isOver { pump.cancel() }
    }

    /// Stops reading the stream.
    ///
    /// It does nothing if the stream was read to its end.
    func cancel() {
      let (pump, source, isAtEnd) = state.withLock { state in
        state.isOver = true
        state.chunk = Data()
        (state.begin, state.endWait) = (nil, nil)
        defer { (state.pump, state.source) = (nil, nil) }
        return (state.pump, state.source, state.isComplete)
      }
      allow()
      pump?.cancel()
      source?.resume()
      if !isAtEnd { stream?.cancel() }
    }

    /// Counts a chunk, and returns whether it completes the announced length.
    private func count(_ chunk: Data, at now: Duration) throws -> Bool {
      try state.withLock { state in
        state.count += Int64(chunk.count)
        state.lastChunk = now
        guard let length else { return false }
        guard state.count <= length else {
          throw NetworkError(
            .bodyUnreadable, "the body stream has more than the \(length) bytes that it was said to have")
        }
        return state.count == length
      }
    }

    private func offer(_ chunk: Data, _ wake: () -> Void) throws {
      try state.withLock { state in
        guard !state.isOver else { throw CancellationError() }
        state.chunk = chunk
      }
      if takeWakeup() { wake() }
    }

    private func waitUntilTaken() async {
      await withUnsafeContinuation { continuation in
        let isTaken = state.withLock { state in
          if state.chunk.isEmpty || state.isOver { return true }
          state.source = continuation
          return false
        }
        if isTaken { continuation.resume() }
      }
    }

    private func complete(_ wake: () -> Void) throws {
      try state.withLock { state in
        if let length, state.count != length {
          throw NetworkError(
            .bodyUnreadable, "the body stream has \(state.count) bytes where it was said to have \(length)")
        }
        state.isComplete = true
      }
      if takeWakeup() { wake() }
    }

    /// Returns the error of a send whose stream could not be read.
    private static func failure(of error: any Error) -> NetworkError {
      if let error = error as? NetworkError, error.code == .bodyUnreadable { return error }
      return NetworkError(.bodyUnreadable, "the body stream could not be read to its end", underlyingError: error)
    }

    private func fail(_ error: any Error, _ wake: () -> Void) {
      stream?.cancel()
      let failure = CurlUpload.failure(of: error)
      state.withLock { $0.failure = failure }
      if takeWakeup() { wake() }
    }
  }
#endif
