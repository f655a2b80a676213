#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation

  /// Undoes the encoding of a response's body (RFC 9110 §8.4), and knows whether the body is whole.
  ///
  /// libcurl decodes too, but takes compressed data that ends too early for a body.
  package final class ContentDecoder {
    /// What the decoder does next.
    package enum Step: Equatable {
      /// Everything was taken.
      case needsMore
      /// Bytes were made, of which there may be more.
      case produced
      /// The data is none of its encoding.
      case broken
    }

    /// The value of `Accept-Encoding` for what can be decoded.
    package static let encodings = "gzip, deflate"

    private let stream: UnsafeMutablePointer<z_stream>
    private let isGzip: Bool
    private var isStarted = false
    private var isAtEnd = false
    private var mayHaveMore = false

    /// Creates a decoder for the value of `Content-Encoding`.
    ///
    /// - Returns: `nil` if the encoding is none that can be decoded.
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

    /// Whether the data came to its end.
    ///
    /// - Parameter mayBeNone: Whether a body without any data is whole: where the end of the body was told.
    /// - Returns: Whether nothing is missing.
    package func isWhole(mayBeNone: Bool) -> Bool { isAtEnd || (mayBeNone && !isStarted) }

    /// Decodes as much as fits.
    ///
    /// - Parameters:
    ///   - input: The encoded bytes; those that were taken are removed.
    ///   - output: Where decoded bytes go.
    ///   - count: How many were made.
    /// - Returns: What comes next.
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
      // With room left there is nothing more to be made of what was taken.
      mayHaveMore = code == Z_OK && stream.pointee.avail_out == 0
      // To have nothing left to do is no error.
      let hasNothingToDo = code == Z_BUF_ERROR && input.isEmpty
      guard code == Z_OK || code == Z_STREAM_END || hasNothingToDo else { return .broken }
      return count > 0 ? .produced : .needsMore
    }

    /// Makes zlib's decoder when the first bytes are there.
    private func start(_ input: UnsafeRawBufferPointer) -> Bool {
      guard !isStarted, let first = input.first else { return isStarted }
      // Some servers send "deflate" without the header that it should have (RFC 9110 §8.4.1.2).
      let hasHeader = isGzip || (first & 0x0F == 8 && first >> 4 <= 7)
      isStarted = rb_inflate_init(stream, hasHeader ? 47 : -15) == Z_OK
      return isStarted
    }
  }
#endif
