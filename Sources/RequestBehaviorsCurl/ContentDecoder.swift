#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation

  /// Decodes the body of a response (RFC 9110 §8.4), and knows whether the body is whole.
  ///
  /// libcurl can decode too, but it accepts compressed data that ends too early. The limit of the decoded bytes is in
  /// `CurlTransfer+Body`.
  package final class ContentDecoder {
    /// The result of a decoding step.
    package enum Step: Equatable {
      /// All input was used.
      case needsMore
      /// The step produced bytes, and there may be more.
      case produced
      /// The data is not valid in its encoding.
      case broken
    }

    /// The value of `Accept-Encoding` for the supported encodings.
    package static let encodings = "gzip, deflate"

    private let stream: UnsafeMutablePointer<z_stream>
    private let isGzip: Bool
    private var isStarted = false
    private var isAtEnd = false
    private var mayHaveMore = false

    /// Creates a decoder for the value of `Content-Encoding`.
    ///
    /// - Returns: The decoder; `nil` if the encoding is not supported.
    package init?(_ encoding: String) {
      switch encoding {
      case "gzip", "x-gzip": isGzip = true
      case "deflate": isGzip = false
      default: return nil
      }
      stream = .allocate(capacity: 1)
      stream.initialize(to: z_stream())
    }

    deinit {
      if isStarted { inflateEnd(stream) }
      stream.deallocate()
    }

    /// Whether a body is encoded at all.
    package static func isIdentity(_ encoding: String) -> Bool { ["", "identity", "none"].contains(encoding) }

    /// Returns whether the compressed data is complete.
    ///
    /// - Parameter mayBeNone: Whether a body without any data is whole. It is if the response told the end of its body.
    /// - Returns: Whether nothing is missing.
    package func isWhole(mayBeNone: Bool) -> Bool { isAtEnd || (mayBeNone && !isStarted) }

    /// Decodes as many bytes as fit into the output.
    ///
    /// - Parameters:
    ///   - input: The encoded bytes; the used ones are removed.
    ///   - output: The memory for the decoded bytes.
    ///   - count: The number of decoded bytes.
    /// - Returns: The result of the step.
    package func decode(
      _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, count: inout Int
    ) -> Step {
      count = 0
      if input.isEmpty, !mayHaveMore { return .needsMore }
      guard start(input) else { return .broken }
      // Several members may follow each other (RFC 1952 §2.2).
      if isAtEnd {
        guard isGzip, input.first == 0x1F, inflateReset(stream) == Z_OK else { return .broken }
        isAtEnd = false
      }
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
      stream.pointee.avail_in = UInt32(clamping: input.count)
      stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(clamping: output.count)
      let code = inflate(stream, Z_NO_FLUSH)
      let taken = input.count - Int(stream.pointee.avail_in)
      input = UnsafeRawBufferPointer(rebasing: input[taken...])
      count = output.count - Int(stream.pointee.avail_out)
      isAtEnd = code == Z_STREAM_END
      // If the output has room left, zlib holds no more decoded bytes.
      mayHaveMore = code == Z_OK && stream.pointee.avail_out == 0
      // zlib reports an error if it has nothing to do. That is not a fault of the data.
      let hasNothingToDo = code == Z_BUF_ERROR && input.isEmpty
      guard code == Z_OK || code == Z_STREAM_END || hasNothingToDo else { return .broken }
      return count > 0 ? .produced : .needsMore
    }

    /// Makes zlib's decoder when the first bytes have arrived.
    private func start(_ input: UnsafeRawBufferPointer) -> Bool {
      guard !isStarted, let first = input.first else { return isStarted }
      // Some servers send "deflate" without the header that it should have (RFC 9110 §8.4.1.2).
      let hasHeader = isGzip || (first & 0x0F == 8 && first >> 4 <= 7)
      isStarted = rb_inflate_init(stream, hasHeader ? 47 : -15) == Z_OK
      return isStarted
    }
  }
#endif
