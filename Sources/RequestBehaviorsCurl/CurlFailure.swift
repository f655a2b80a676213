#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  package import RequestBehaviors

  /// The meaning of a result of libcurl.
  package struct CurlFailure {
    /// libcurl's number of the result.
    package let result: UInt32
    /// libcurl's text for it; it may be empty.
    package let text: String
    /// Whether the head of the response had arrived.
    package let hasHead: Bool
    /// Whether the request was sent over a connection that had been used before.
    package let isOverReusedConnection: Bool
    /// Whether there was a connection to the server: false while a proxy opens a tunnel.
    package let hadConnection: Bool

    /// Creates a failure.
    package init(
      result: UInt32, text: String, hasHead: Bool, isOverReusedConnection: Bool, hadConnection: Bool = true
    ) {
      self.result = result
      self.text = ProxyCredentials.hidingCredentials(in: text)
      self.hasHead = hasHead
      self.isOverReusedConnection = isOverReusedConnection
      self.hadConnection = hadConnection
    }

    /// Returns the error for the caller.
    ///
    /// - Parameters:
    ///   - hint: The hint for a connection that could not be made.
    ///   - securityHint: The hint for a certificate that is not trusted.
    /// - Returns: The error.
    package func networkError(hint: String? = nil, securityHint: String? = nil) -> NetworkError {
      let code = self.code
      let said = text.isEmpty ? CurlLibrary.text(CURLcode(rawValue: result)) : text
      let meaning = TransportFailure.meaning(of: code, for: "libcurl")
      let isUnconnected = code == .cannotConnect || code == .dnsFailed
      let remedy =
        switch CURLcode(rawValue: result) {
        case _ where isUnconnected: hint
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: pinRule
        case CURLE_PEER_FAILED_VERIFICATION: securityHint
        default: nil as String?
        }
      return NetworkError(code, "\(meaning): \(said)\(remedy.map { "; \($0)" } ?? "")")
    }

    private var pinRule: String {
      "over libcurl a pin has to be the key of the server's own certificate, not that of an authority"
    }

    /// The code for the failure.
    package var code: NetworkError.Code {
      let code = codeOfResult
      // A proxy that resets its connection, or whose reply is too long, makes no tunnel.
      if code == .connectionLost, !hadConnection { return .cannotConnect }
      // libcurl makes another connection when a kept-alive one dies before the response begins. If that fails, the
      // result is that of the second, but the request was sent over the first.
      return isOverReusedConnection && !hasHead && code.kinds.contains(.unsent) ? .connectionLost : code
    }

    private var codeOfResult: NetworkError.Code {
      // libcurl reports an unsupported proxy with the code of a failed name resolution or connection.
      if text.contains("Unsupported proxy") { return .invalidURL }
      return switch CURLcode(rawValue: result) {
      case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .dnsFailed
      case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED: .cannotConnect
      case CURLE_OPERATION_TIMEDOUT: .timedOut
      // Over HTTP/2, libcurl reports a partial file for a stream that ends with its connection, even before the head.
      case CURLE_PARTIAL_FILE: hasHead ? .truncatedBody : .connectionLost
      case CURLE_URL_MALFORMAT: .invalidURL
      case CURLE_SSL_CERTPROBLEM: .invalidTrust
      case CURLE_SSL_CONNECT_ERROR where breaksOffHandshake: .cannotConnect
      case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_SSL_ENGINE_NOTFOUND,
        CURLE_SSL_ENGINE_SETFAILED:
        .tlsFailed
      case CURLE_RECV_ERROR: receivingCode
      case CURLE_SEND_ERROR: refusesHandshake ? .tlsFailed : .connectionLost
      case CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND,
        CURLE_ABORTED_BY_CALLBACK:
        .connectionLost
      // libcurl takes a response without a status line for HTTP/0.9. From 8.6 on, 100 means that the header is too
      // long.
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLcode(rawValue: 100),
        CURLE_WRITE_ERROR:
        .badResponse
      // libcurl cannot read a header field, or has more decoded bytes than it keeps for a waiting reader.
      case CURLE_BAD_FUNCTION_ARGUMENT, CURLE_OUT_OF_MEMORY: .badResponse
      default: .transportFailed
      }
    }

    /// The code for a failure of reading.
    ///
    /// Only libcurl's text tells the failures apart.
    private var receivingCode: NetworkError.Code {
      let text = text.lowercased()
      // Over TLS, libcurl reports an end without a closure alert as an error.
      if text.contains("unexpected eof") { return hasHead ? .truncatedBody : .connectionLost }
      if refusesHandshake { return .tlsFailed }
      if text.contains("proxy") || text.contains("connect tunnel") { return .cannotConnect }
      let isMalformed = ["chunk", "hexadecimal", "malformed", "nul byte", "illegal"].contains { text.contains($0) }
      return isMalformed ? .badResponse : .connectionLost
    }

    /// Whether the connection ended within the handshake, as when a server restarts.
    ///
    /// Unlike a handshake that the server refuses by an alert, it may succeed later.
    private var breaksOffHandshake: Bool {
      let text = text.lowercased()
      // OpenSSL has no error when the connection ends, so libcurl 8.12 writes the number 0. A closure alert is such an
      // end, too, which 7.88 calls a zero return.
      let ends = ["connection reset", "ssl_error_syscall", "ssl_error_zero_return", "unexpected eof", "error:00000000"]
      return ends.contains { text.contains($0) }
    }

    /// Whether the server ended the handshake after the client's part was over.
    ///
    /// With TLS 1.3 a client sends its request before the server has checked the client's certificate (RFC 8446
    /// §4.4.2.4). A refusal comes as an alert in place of the response. Alerts about other things may also come when
    /// the server has read the request.
    private var refusesHandshake: Bool {
      let text = text.lowercased()
      guard !hasHead, !isOverReusedConnection, text.contains("alert") else { return false }
      // The names of OpenSSL for the alerts of RFC 8446 §6.2 that a server sends when it checks the client's part.
      let refusals = ["certificate", "unknown ca", "access denied", "decrypt error", "handshake failure"]
      return refusals.contains { text.contains($0) }
    }
  }
#endif
