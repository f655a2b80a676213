#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors

  /// The chunks of a response's body.
  ///
  /// The sequence keeps the transport alive.
  struct CurlBytes: AsyncSequence, Sendable {
    typealias Element = Data

    private let transfer: CurlTransfer
    private let stream: CurlStream
    private let transport: CurlTransport

    /// Creates a sequence.
    ///
    /// - Parameters:
    ///   - transfer: The transfer that delivers the chunks.
    ///   - stream: The buffer of the chunks.
    ///   - transport: The transport, which must live until the body has ended.
    init(_ transfer: CurlTransfer, _ stream: CurlStream, transport: CurlTransport) {
      self.transfer = transfer
      self.stream = stream
      self.transport = transport
    }

    /// The sequence as a body.
    var byteStream: ByteStream { ByteStream(self, onCancel: cancel, trailers: { [stream] in stream.trailers }) }

    private func cancel() {
      guard !stream.isEnded else { return }
      stream.end(.failure(CancellationError()))
      transfer.loop.post(.cancel(transfer))
    }

    func makeAsyncIterator() -> Iterator { Iterator(bytes: self) }

    struct Iterator: AsyncIteratorProtocol {
      fileprivate let bytes: CurlBytes

      func next() async throws -> Data? {
        try await bytes.stream.next { bytes.transfer.loop.post(.resume(bytes.transfer)) }
      }
    }
  }
#endif
