#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors

  /// The chunks of a response's body.
  ///
  /// Dropping it, and its iterator, ends the transfer.
  struct CurlBytes: AsyncSequence, Sendable {
    typealias Element = Data

    private let lease: Lease

    /// Creates a sequence.
    ///
    /// - Parameters:
    ///   - transfer: What brings the chunks.
    ///   - stream: Where they are.
    ///   - transport: What must not be released before the body has ended.
    init(_ transfer: CurlTransfer, _ stream: CurlStream, transport: CurlTransport) {
      lease = Lease(transfer: transfer, stream: stream, transport: transport)
    }

    /// The sequence as a body.
    var byteStream: ByteStream { ByteStream(self) { [lease] in lease.cancel() } }

    func makeAsyncIterator() -> Iterator { Iterator(lease: lease) }

    struct Iterator: AsyncIteratorProtocol {
      fileprivate let lease: Lease

      func next() async throws -> Data? { try await lease.next() }
    }

    /// What the reader holds.
    fileprivate final class Lease: Sendable {
      private let transfer: CurlTransfer
      private let stream: CurlStream
      private let transport: CurlTransport

      init(transfer: CurlTransfer, stream: CurlStream, transport: CurlTransport) {
        self.transfer = transfer
        self.stream = stream
        self.transport = transport
      }

      deinit { cancel() }

      func cancel() {
        guard !stream.isEnded else { return }
        stream.end(.failure(CancellationError()))
        transfer.loop.post(.cancel(transfer))
      }

      func next() async throws -> Data? {
        try await withTaskCancellationHandler {
          try await stream.next { transfer.loop.post(.resume(transfer)) }
        } onCancel: {
          cancel()
        }
      }
    }
  }
#endif
