#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors

  /// A buffer for the body of a response, between libcurl and the reader.
  ///
  /// When it is full, libcurl waits.
  final class CurlStream: Sendable {
    typealias Continuation = UnsafeContinuation<Result<Data?, any Error>, Never>

    fileprivate struct State {
      var chunks: [Data] = []
      var count = 0
      var end: Result<Void, any Error>?
      var trailers: HeaderFields?
      var waiter: Continuation?
      /// Whether libcurl waits for the reader.
      var isPaused = false
    }

    /// The number of bytes that are held before libcurl waits.
    fileprivate static let capacity = 128 * 1_024

    /// The length up to which bytes join the latest chunk: that of libcurl's largest.
    fileprivate static let mergedLength = 16 * 1_024

    private let state = Locked(State())

    /// Whether the body has ended.
    var isEnded: Bool { state.withLock { $0.end != nil } }

    /// The fields that came after the body.
    var trailers: HeaderFields? { state.withLock { $0.trailers } }

    /// Returns whether the buffer has room.
    ///
    /// - Parameter orPauses: Whether libcurl waits if there is no room.
    /// - Returns: Whether there is room. It is true after the body has ended.
    func hasRoom(orPauses: Bool = false) -> Bool {
      state.withLock { state in
        let hasRoom = state.hasRoom || state.end != nil
        if orPauses { state.isPaused = !hasRoom }
        return hasRoom
      }
    }

    /// Takes bytes, for which there must be room.
    func push(_ bytes: UnsafeRawBufferPointer) {
      let waiter = state.withLock { state -> Continuation? in
        // Bytes that come after the end, such as after a cancellation, are dropped.
        guard state.end == nil else { return nil }
        if let waiter = state.waiter {
          state.waiter = nil
          return waiter
        }
        state.append(bytes)
        return nil
      }
      waiter?.resume(returning: .success(Data(bytes)))
    }

    /// Ends the body.
    ///
    /// The held bytes can still be read. Only the first call counts.
    func end(_ result: Result<Void, any Error>, trailers: HeaderFields? = nil) {
      let waiter = state.withLock { state -> Continuation? in
        guard state.end == nil else { return nil }
        (state.end, state.trailers) = (result, trailers)
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: result.map { nil })
    }

    /// Returns the next chunk.
    ///
    /// - Parameter resume: Called when libcurl waits and may continue.
    /// - Returns: The chunk; `nil` at the end.
    /// - Throws: The error that the body ended with.
    func next(resume: () -> Void) async throws -> Data? {
      if let (result, wasPaused) = state.withLock({ $0.take() }) {
        if wasPaused { resume() }
        return try result.get()
      }
      let result = await withUnsafeContinuation { (waiter: Continuation) in
        let early = state.withLock { state -> (result: Result<Data?, any Error>, wasPaused: Bool)? in
          if let taken = state.take() { return taken }
          // A stream has one reader. A second reader gets the end of the stream.
          if state.waiter != nil { return (.success(nil), false) }
          state.waiter = waiter
          return nil
        }
        guard let early else { return }
        if early.wasPaused { resume() }
        waiter.resume(returning: early.result)
      }
      // The thread sanitizer sees no order between an early resumption and the code after it.
      state.withLock { _ in }
      return try result.get()
    }
  }

  extension CurlStream.State {
    fileprivate var hasRoom: Bool { count < CurlStream.capacity }

    /// Adds bytes at the end.
    ///
    /// A server may send each byte by itself. A list of them would be long, and each removal from it as well.
    fileprivate mutating func append(_ bytes: UnsafeRawBufferPointer) {
      count += bytes.count
      if let last = chunks.indices.last, chunks[last].count + bytes.count <= CurlStream.mergedLength {
        chunks[last].append(contentsOf: bytes)
      } else {
        chunks.append(Data(bytes))
      }
    }

    /// Takes the next chunk or the end, and tells whether libcurl may continue; `nil` if there is neither yet.
    fileprivate mutating func take() -> (result: Result<Data?, any Error>, wasPaused: Bool)? {
      guard !chunks.isEmpty else { return end.map { ($0.map { nil }, false) } }
      let chunk = chunks.removeFirst()
      count -= chunk.count
      let wasPaused = isPaused && chunks.isEmpty
      if wasPaused { isPaused = false }
      return (.success(chunk), wasPaused)
    }
  }
#endif
