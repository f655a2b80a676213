#if canImport(CRequestBehaviorsCurl)
  import RequestBehaviors

  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  extension CurlTransport {
    /// Runs work on the thread of the transport, where its requests need not wake another thread.
    ///
    /// ```swift
    /// let transport = CurlTransport()
    /// let client = NetworkClient(
    ///   baseURL: baseURL, behaviors: [.logging()], transport: transport)
    /// let users: [User] = try await transport.run {
    ///   try await client.send(.get("users"))
    /// }
    /// ```
    ///
    /// A request usually goes from the caller's thread to the transport's, and its response goes back. Within the work
    /// both are one thread, so a request takes less time and less processor time, most of all if few are under way.
    /// Behaviors run there too, and so do actors and the child tasks of the work (`async let` and task groups). Code of
    /// the main actor, or of an actor with an executor of its own, runs where it always does. A task that the work
    /// creates with `Task { }` runs on the common pool.
    ///
    /// The work must not block, compute for long or wait for a lock that is held for long: all transfers of the
    /// transport wait meanwhile. In a debug build the transport tells on standard error of a part of the work that took
    /// longer than 10 milliseconds (``Configuration/blockingReport``). The transport and its work use one core.
    /// ``CurlTransports`` are one for each core that a server needs.
    ///
    /// After a shutdown of the transport the rest of the work runs on the system's threads.
    ///
    /// - Parameter work: The work to run.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work.
    public func run<Value: Sendable, Failure: Error>(
      _ work: @concurrent () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
      guard let loop else { return try await work() }
      // A result, because a task-local value is bound for errors of any type only.
      let result = await PreferredExecutor.$bound.withValue(loop) {
        await withTaskExecutorPreference(loop) { () async -> Result<Value, Failure> in
          do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
        }
      }
      return try result.get()
    }
  }

  extension CurlTransport {
    /// Whether the caller runs on the thread of the transport.
    package var isOnItsThread: Bool { loop?.isOnThread ?? false }

    #if DEBUG
      static let defaultBlockingReport: (@Sendable (Duration) -> Void)? = { duration in
        let line =
          "RequestBehaviorsCurl: a part of the work in CurlTransport.run(_:) held the thread for \(duration), and all "
          + "transfers of the transport waited"
        StandardError.write(line)
      }
    #else
      static let defaultBlockingReport: (@Sendable (Duration) -> Void)? = nil
    #endif
  }
#endif
