#if canImport(CRequestBehaviorsCurl)
  /// A note of libcurl about a request that shares a connection.
  ///
  /// libcurl has no other way to tell that a server refused a request. A note of unknown wording is ignored: then the
  /// request counts as sent.
  package enum CurlNote: Equatable {
    /// The number of the request's stream.
    case stream(Int)
    /// The number of the last stream of the connection that the server processes (RFC 9113 §6.8).
    case goAway(Int)
    /// The server refused the request (RFC 9113 §8.7).
    case refused
    /// The connection is of no use any more: libcurl sends the request again, or gives up after five times.
    case connectionDied

    /// Reads a note; `nil` if it tells something else.
    package init?(_ bytes: UnsafeRawBufferPointer) {
      // Most notes tell something else, and cost no more than this line.
      guard let first = bytes.first, "[UHRCr".utf8.contains(first) else { return nil }
      let text = String(decoding: bytes, as: UTF8.self)
      if text.hasPrefix("[HTTP/2] [") || text.hasPrefix("Using Stream ID: "),
        let number = CurlNote.number(in: text.dropFirst(10))
      {
        self = .stream(number)
      } else if text.contains(" GOAWAY, "), let end = text.firstRange(of: "last_stream="),
        let number = CurlNote.number(in: text[end.upperBound...])
      {
        self = .goAway(number)
      } else if text.hasPrefix("REFUSED_STREAM, ")
        || text.hasPrefix("HTTP/2 stream ") && text.contains(" refused by server")
      {
        self = .refused
      } else if text.hasPrefix("Connection died, ") {
        self = .connectionDied
      } else {
        return nil
      }
    }

    /// The first number in a text.
    private static func number(in text: Substring) -> Int? {
      Int(text.drop { !$0.isWholeNumber }.prefix { $0.isWholeNumber })
    }
  }
#endif
