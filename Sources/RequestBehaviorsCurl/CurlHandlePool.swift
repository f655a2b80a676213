#if canImport(CRequestBehaviorsCurl)
  import RequestBehaviors

  /// Keeps the handles of a transport for further requests, because creating one costs more than a request.
  final class CurlHandlePool: Sendable {
    /// The maximum number of kept handles.
    private static let limit = 128

    private struct State {
      var isClosed = false
      /// The handles that are ready for use.
      var spare: [CurlHandle] = []
      /// The handles that must be renewed before use.
      var worn: [CurlHandle] = []
    }

    private let configuration: CurlTransport.Configuration
    private let share: CurlShare
    private let state = Locked(State())

    /// Creates an empty pool.
    init(_ configuration: CurlTransport.Configuration, _ share: CurlShare) {
      self.configuration = configuration
      self.share = share
    }

    /// Returns a handle that is ready for a request.
    ///
    /// - Throws: The error of a new handle if libcurl refuses an option of the configuration.
    func take() throws -> CurlHandle { try state.withLock { $0.spare.popLast() } ?? CurlHandle(configuration, share) }

    /// Keeps a handle for a further request.
    func put(_ handle: CurlHandle) {
      handle.reset()
      state.withLock { state in
        guard !state.isClosed, state.spare.count + state.worn.count < CurlHandlePool.limit else { return }
        if CurlLibrary.canReuseHandles { state.spare.append(handle) } else { state.worn.append(handle) }
      }
    }

    /// Renews the handles that must not be reused as they are.
    ///
    /// The loop's thread calls it when the requests of its turn are on their way.
    func renew() {
      guard !CurlLibrary.canReuseHandles else { return }
      while let handle = state.withLock({ $0.worn.popLast() }) {
        // A handle that cannot be renewed is released.
        if (try? handle.renew()) != nil { state.withLock { if !$0.isClosed { $0.spare.append(handle) } } }
      }
    }

    /// Releases the handles, and keeps none from then on.
    func close() {
      let handles = state.withLock { state in
        state.isClosed = true
        defer { (state.spare, state.worn) = ([], []) }
        return state.spare + state.worn
      }
      // The handles are released outside the lock, because each release frees memory of libcurl.
      _ = handles
    }
  }
#endif
