#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  public import RequestBehaviors

  /// Sends requests over the system's libcurl.
  ///
  /// On Linux it is several times as fast as URLSession. Streams wait for their readers, and malformed responses are
  /// refused.
  ///
  /// ```swift
  /// let client = NetworkClient(baseURL: baseURL, transport: .curl())
  /// ```
  ///
  /// It runs on Linux and macOS, with libcurl 7.81 or later. One thread serves all requests of a transport; the first
  /// request starts it. Header fields keep their order, and fields of the same name stay separate. Timeouts may be
  /// fractions of a second. The transport never sends a request twice: if a kept-alive connection turns out dead, the
  /// send fails with `NetworkError` of code `connectionLost`, and a retry behavior decides about a repeat.
  ///
  /// Redirects are returned as responses. The transport has no cookies and no cache, and reads no credentials from the
  /// user's files.
  public final class CurlTransport: Transport {
    private let configuration: Configuration
    private let clock: RequestClock
    let loop: CurlLoop?
    private let measurements = FileMeasurements()

    /// Creates a transport with connections of its own.
    ///
    /// - Parameters:
    ///   - configuration: The settings; the default settings if omitted.
    ///   - clock: The clock that measures timeouts; by default the system's.
    public init(configuration: Configuration = Configuration(), clock: RequestClock = .system) {
      self.configuration = configuration
      self.clock = clock
      loop = CurlLoop(configuration, clock: clock)
    }

    // The thread keeps the loop alive until it is closed, but nothing keeps the transport alive.
    deinit { loop?.post(.close {}) }

    /// Sends a request.
    ///
    /// - Parameter request: The request, with everything in it that goes over the wire.
    /// - Returns: The response, with any status. A compressed body is decoded, but `Content-Encoding` and
    ///   `Content-Length` still describe the compressed body. If the request sets `Accept-Encoding` itself, the body is
    ///   not decoded, unless the value is `identity` and the server compresses all the same.
    /// - Throws: `NetworkError` with a code for the failure and a `progress` for how far the attempt had come, or
    ///   `CancellationError` as soon as the task is cancelled.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      try request.validate()
      try Task.checkCancellation()
      guard let loop else {
        throw NetworkError(
          .transportFailed, "libcurl \(CurlLibrary.version) could not be made ready", request: request)
      }
      let waits = request.body.map { $0.data == nil } ?? false
      // A body may let its transport wait for as long as it wants. A sign-out does not wait for that.
      if waits { HandOver.endCurrent() }
      let transfer = try await prepare(request, loop)
      let outcome = await withTaskCancellationHandler {
        await withUnsafeContinuation { continuation in
          transfer.attach(continuation)
          // The upload must be ready before the loop asks for its bytes.
          transfer.upload?.start(clock: clock) { loop.post(.resume(transfer)) }
          if request.awaitsLeave, transfer.upload?.length != 0 {
            transfer.upload?.awaitLeave(clock: clock) { loop.post(.resume(transfer)) }
          }
          loop.post(.start(transfer))
          if !waits { HandOver.endCurrent() }
        }
      } onCancel: {
        // The caller continues at once. The loop does the remaining work.
        if transfer.settle(.failed(CancellationError())) { loop.post(.cancel(transfer)) }
      }
      transfer.synchronize()
      switch outcome {
      case .failed(let error): throw error
      case .ended: return try takeResponse(of: transfer, loop)
      case .head: return try streamedResponse(of: transfer, loop)
      }
    }

    /// Ends all requests in flight with `NetworkError` of code `clientShutDown`.
    ///
    /// Further sends fail with it too.
    ///
    /// A second call has no effect.
    public func shutdown() async {
      guard let loop else { return }
      measurements.close()
      await withCheckedContinuation { continuation in
        loop.post(.close { continuation.resume() })
      }
    }
  }

  extension Transport where Self == CurlTransport {
    /// Returns a transport over the system's libcurl, with connections of its own; see ``CurlTransport``.
    ///
    /// - Parameters:
    ///   - configuration: The settings; the default settings if omitted.
    ///   - clock: The clock that measures timeouts; by default the system's.
    /// - Returns: The transport.
    public static func curl(
      _ configuration: CurlTransport.Configuration = CurlTransport.Configuration(), clock: RequestClock = .system
    ) -> CurlTransport {
      CurlTransport(configuration: configuration, clock: clock)
    }
  }

  extension CurlTransport: CustomStringConvertible, CustomReflectable {
    /// The name of the type and the version of libcurl.
    public var description: String { "CurlTransport(libcurl \(CurlLibrary.version))" }

    /// A mirror with the description only: `dump` of a transport must not show its requests.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
  }

  // MARK: - Requests

  extension CurlTransport {
    private func prepare(_ request: NetworkRequest, _ loop: CurlLoop) async throws -> CurlTransfer {
      var upload: CurlUpload?
      do {
        upload = try await self.upload(of: request)
        let handle = try loop.handles.take()
        try handle.prepare(request, upload)
        if request.wasMisdirected { try handle.avoidKeptConnections() }
        return CurlTransfer(request, handle, upload, loop)
      } catch {
        upload?.cancel()
        guard var failure = (error as? RefusedOption)?.networkError() ?? error as? NetworkError else { throw error }
        failure.request = request
        throw failure.unsent
      }
    }

    /// Returns the source of a body's bytes for libcurl; `nil` for a small body in memory, which is sent with the head.
    private func upload(of request: NetworkRequest) async throws -> CurlUpload? {
      guard let body = request.body else { return nil }
      switch body.content {
      case .data(let data):
        // Bytes that are sent with the head cannot wait for the server's permission.
        let isInline = data.isEmpty || data.count <= CurlHandle.inlineLimit && !request.awaitsLeave
        return isInline ? nil : CurlUpload(data)
      case .stream(let makeStream): return CurlUpload(makeStream(), length: body.length)
      case .oneShot(let stream): return CurlUpload(try stream.take(), length: body.length)
      case .file(let url):
        // A request may wait for a connection. Its file is opened when libcurl asks for the first bytes.
        let chunks = try await measurements.chunks(of: url, for: request.options, clock)
        return chunks.length == 0 ? CurlUpload(Data()) : CurlUpload(ByteStream(chunks), length: chunks.length)
      }
    }
  }

  // MARK: - Responses

  extension CurlTransport {
    /// Returns the response of an ended transfer, and gives its handle back.
    private func takeResponse(of transfer: CurlTransfer, _ loop: CurlLoop) throws -> NetworkResponse {
      let handle = transfer.handle
      defer { loop.handles.put(handle) }
      if let error = transfer.objection { throw error.of(transfer) }
      // A malformed head may be the reason why the body is incomplete, so its error comes first.
      let head = handle.head.isComplete ? try parse(handle.head.head, of: transfer) : nil
      guard transfer.result == CURLE_OK else { throw transfer.failure.of(transfer) }
      guard let head else {
        throw NetworkError(.connectionLost, "the connection ended within the head of the response").of(transfer)
      }
      if let error = transfer.missing { throw error.of(transfer) }
      transfer.connection = handle.connectionTimings(queued: transfer.queued)
      var response = response(to: transfer, head, .data(handle.body.data), until: transfer.lastByte)
      response.trailers = transfer.trailers
      return response
    }

    private func streamedResponse(of transfer: CurlTransfer, _ loop: CurlLoop) throws -> NetworkResponse {
      guard let stream = transfer.stream else { throw NetworkError(.transportFailed, "there is no stream") }
      // Releasing the stream, as this function does when it throws, ends the transfer.
      let bytes = CurlBytes(transfer, stream, transport: self).byteStream
      let head = try parse(transfer.head, of: transfer)
      return response(to: transfer, head, .stream(bytes), until: nil)
    }

    private func parse(_ bytes: [UInt8], of transfer: CurlTransfer) throws -> ResponseHead {
      do {
        return try ResponseHead(bytes)
      } catch {
        throw NetworkError(.badResponse, "the response is refused: \(error.reason)").of(transfer)
      }
    }

    private func response(
      to transfer: CurlTransfer, _ head: ResponseHead, _ body: ResponseBody, until end: Duration?
    ) -> NetworkResponse {
      var timings = ResponseTimings(sent: transfer.sent, firstByte: transfer.firstByte, lastByte: end)
      timings.connection = transfer.connection
      var response = NetworkResponse(
        request: transfer.request, statusCode: head.statusCode, headers: head.headers, body: body, timings: timings)
      // A malformed interim response is left out.
      response.interimResponses = transfer.interimHeads.compactMap { try? ResponseHead($0) }.map {
        InterimResponse(statusCode: $0.statusCode, headers: $0.headers)
      }
      return response
    }
  }

  extension NetworkRequest {
    /// Whether the body waits until the server permits sending it.
    fileprivate var awaitsLeave: Bool {
      !headers.isEmpty && headers["Expect"].map { HeaderFields.areEqual($0, "100-continue") } ?? false
    }
  }

  extension NetworkError {
    fileprivate func of(_ transfer: CurlTransfer) -> NetworkError {
      var error = self
      error.request = transfer.request
      error.progress = transfer.progress(of: error)
      return error
    }
  }

  extension CurlTransport: HandOverEnding {}
#endif
