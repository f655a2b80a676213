#if canImport(CRequestBehaviorsCurl)
  import Foundation

  /// Keeps the handles of a transport for further requests, because to make one costs more than a request.
  final class CurlHandlePool: Sendable {
    /// How many handles are kept.
    private static let limit = 128

    private struct State {
      var isClosed = false
      /// Those that are ready.
      var spare: [CurlHandle] = []
      /// Those that must be renewed before they are ready.
      var worn: [CurlHandle] = []
    }

    private let configuration: CurlTransport.Configuration
    private let share: CurlShare
    private let lock = NSLock()
    // Protected by `lock`.
    nonisolated(unsafe) private var state = State()

    /// Creates an empty pool.
    init(_ configuration: CurlTransport.Configuration, _ share: CurlShare) {
      self.configuration = configuration
      self.share = share
    }

    /// Returns a handle that is ready for a request.
    ///
    /// - Throws: What a new handle throws if libcurl refuses an option of the configuration.
    func take() throws -> CurlHandle { try lock.withLock { state.spare.popLast() } ?? CurlHandle(configuration, share) }

    /// Keeps a handle for a further request.
    func put(_ handle: CurlHandle) {
      handle.reset()
      lock.withLock {
        guard !state.isClosed, state.spare.count + state.worn.count < CurlHandlePool.limit else { return }
        if CurlLibrary.canReuseHandles { state.spare.append(handle) } else { state.worn.append(handle) }
      }
    }

    /// Makes those handles ready that must not be used as they are; called by the loop's thread when the requests of its
    /// turn are on their way.
    func renew() {
      guard !CurlLibrary.canReuseHandles else { return }
      while let handle = lock.withLock({ state.worn.popLast() }) {
        // One that cannot be made ready for a further request is released.
        if (try? handle.renew()) != nil { lock.withLock { if !state.isClosed { state.spare.append(handle) } } }
      }
    }

    /// Releases the handles; no others are kept from then on.
    func close() {
      let handles = lock.withLock {
        state.isClosed = true
        defer { (state.spare, state.worn) = ([], []) }
        return state.spare + state.worn
      }
      // Released outside of the lock, for each frees what libcurl has.
      _ = handles
    }
  }
#endif
