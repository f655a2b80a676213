import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The meaning of an error of URLSession.
package struct TransportFailure {
  private let error: any Error
  private let isWithinBody: Bool
  private let hasSentBody: Bool

  /// Reads an error.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - isWithinBody: Whether it came after the head of the response.
  ///   - hasSentBody: Whether it came after bytes of the request's body were sent; by default false.
  package init(_ error: any Error, isWithinBody: Bool, hasSentBody: Bool = false) {
    self.error = error
    self.isWithinBody = isWithinBody
    self.hasSentBody = hasSentBody
  }

  /// The error for the caller.
  package var networkError: NetworkError {
    let code = self.code
    let meaning = TransportFailure.meaning(of: code, for: "the platform")
    let text = ProxyCredentials.hidingCredentials(in: error.localizedDescription)
    let underlying = text == error.localizedDescription ? error : TransportFailure.copy(of: error, text)
    return NetworkError(code, "\(meaning): \(text)", underlyingError: underlying)
  }

  /// Returns an error of the same kind with another text.
  ///
  /// The platform's further details are dropped, because they quote the first text.
  private static func copy(of error: any Error, _ text: String) -> any Error {
    let info = [NSLocalizedDescriptionKey: text]
    if let error = error as? URLError { return URLError(error.code, userInfo: info) }
    return NSError(domain: (error as NSError).domain, code: (error as NSError).code, userInfo: info)
  }

  /// Whether the error is that of the connection that replaced a lost one.
  ///
  /// On Linux URLSession makes another connection when a kept-alive one dies before the response begins. If that fails,
  /// the error says that there is no connection, but the request was sent over the first.
  package var isOfSecondConnection: Bool {
    #if canImport(FoundationNetworking)
      hasSentBody && !isWithinBody && platformCode.kinds.contains(.unsent) && !isRefusal
    #else
      false
    #endif
  }

  /// The code for the error.
  private var code: NetworkError.Code { isOfSecondConnection ? .connectionLost : platformCode }

  private var platformCode: NetworkError.Code {
    if let code = posixCode { return TransportFailure.posixCodes[code] ?? .transportFailed }
    guard let error = error as? URLError else { return .transportFailed }
    #if canImport(FoundationNetworking)
      return TransportFailure.codes[error.code] ?? codeOfText
    #else
      let code = TransportFailure.codes[error.code] ?? .transportFailed
      // The platform has the same code for a connection that was reset and one that was closed too early. The number of
      // the stream's error, which CFNetwork adds, tells them apart.
      let isReset = error.userInfo["_kCFStreamErrorCodeKey"] as? Int == Int(POSIXErrorCode.ECONNRESET.rawValue)
      return code == .connectionLost && isWithinBody && !isReset ? .truncatedBody : code
    #endif
  }

  private var posixCode: POSIXErrorCode? {
    let error = error as NSError
    return error.domain == NSPOSIXErrorDomain ? POSIXErrorCode(rawValue: Int32(clamping: error.code)) : nil
  }

  /// Errors of the system's own domain, which URLSession hands on now and then.
  private static let posixCodes: [POSIXErrorCode: NetworkError.Code] = [
    .ECONNREFUSED: .cannotConnect, .EHOSTUNREACH: .cannotConnect, .EHOSTDOWN: .cannotConnect,
    .ENETUNREACH: .cannotConnect, .ENETDOWN: .cannotConnect, .EADDRNOTAVAIL: .cannotConnect,
    .ECONNRESET: .connectionLost, .ECONNABORTED: .connectionLost, .EPIPE: .connectionLost,
    .ENOTCONN: .connectionLost, .ENETRESET: .connectionLost, .ESHUTDOWN: .connectionLost,
    .ETIMEDOUT: .timedOut,
  ]

  private static let codes: [URLError.Code: NetworkError.Code] = [
    .cannotConnectToHost: .cannotConnect, .notConnectedToInternet: .cannotConnect,
    .internationalRoamingOff: .cannotConnect, .dataNotAllowed: .cannotConnect, .callIsActive: .cannotConnect,
    .cannotFindHost: .dnsFailed, .dnsLookupFailed: .dnsFailed,
    .timedOut: .timedOut,
    .networkConnectionLost: .connectionLost, .badServerResponse: .connectionLost,
    .cannotParseResponse: .badResponse, .cannotDecodeRawData: .badResponse, .cannotDecodeContentData: .badResponse,
    // The response is HTTP/0.9 or looks like it. Schemes other than http and https do not get here.
    .unsupportedURL: .badResponse,
    .badURL: .invalidURL,
    .secureConnectionFailed: .tlsFailed, .serverCertificateHasBadDate: .tlsFailed,
    .serverCertificateUntrusted: .tlsFailed, .serverCertificateHasUnknownRoot: .tlsFailed,
    .serverCertificateNotYetValid: .tlsFailed, .clientCertificateRejected: .tlsFailed,
    .clientCertificateRequired: .tlsFailed, .appTransportSecurityRequiresSecureConnection: .tlsFailed,
    .fileDoesNotExist: .bodyUnreadable, .noPermissionsToReadFile: .bodyUnreadable,
    .fileIsDirectory: .bodyUnreadable,
  ]

  #if canImport(FoundationNetworking)
    private var text: String { error.localizedDescription.lowercased() }

    private var codeOfText: NetworkError.Code {
      let text = text
      // Over TLS, libcurl reports an end without a closure alert as an error.
      if isWithinBody, text.contains("ssl_read"), text.contains("unexpected eof") { return .truncatedBody }
      let code = TransportFailure.texts.first { text.contains($0.0) }?.1 ?? .transportFailed
      // Within the body the request was sent, whatever the text says.
      return isWithinBody && code.kinds.contains(.unsent) ? .connectionLost : code
    }

    /// Whether the server ended the handshake after the client's part was over, as it may with TLS 1.3 (RFC 8446
    /// §4.4.2.4).
    private var isRefusal: Bool {
      let text = text
      return text.contains("alert") && (text.contains("ssl_read") || text.contains("ssl_write"))
    }

    /// The texts of libcurl in lower case, for errors to which URLSession on Linux gives no code.
    ///
    /// The first match counts.
    private static let texts: [(String, NetworkError.Code)] = [
      // A server that resets a connection as soon as it is made; the name of a host follows.
      ("failed to connect to ", .cannotConnect),
      // A proxy that makes no tunnel.
      ("connect tunnel failed", .cannotConnect), ("from proxy after connect", .cannotConnect),
      ("proxy connect aborted", .cannotConnect), ("connect response too large", .cannotConnect),
      ("http2 framing", .connectionLost), ("http/2 framing", .connectionLost), ("http/2 stream", .connectionLost),
      // The server ended the connection within the handshake, so nothing was sent.
      ("ssl_connect: connection reset", .cannotConnect), ("ssl_connect: ssl_error_syscall", .cannotConnect),
      // OpenSSL has no error for it, so libcurl 8.12 writes the number 0.
      ("tls connect error: error:00000000", .cannotConnect),
      ("remaining to read", .truncatedBody), ("outstanding read data", .truncatedBody),
      ("end of response with", .truncatedBody),
      ("broken pipe", .connectionLost), ("connection reset", .connectionLost), ("connection died", .connectionLost),
      ("empty reply", .connectionLost), ("recv failure", .connectionLost), ("send failure", .connectionLost),
      ("not closed cleanly", .connectionLost), ("syscall, errno", .connectionLost),
      ("unsupported proxy", .invalidURL),
      ("alert", .tlsFailed), ("ssl_read", .connectionLost), ("ssl_write", .connectionLost),
      ("unexpected eof", .cannotConnect),
      ("certificate", .tlsFailed), ("ssl", .tlsFailed), ("tls", .tlsFailed),
      ("hexadecimal", .badResponse), ("chunk", .badResponse), ("header", .badResponse), ("encoding", .badResponse),
      ("http/0.9", .badResponse), ("framing", .badResponse), ("out of memory", .badResponse),
      ("invalid", .badResponse), ("unsupported", .badResponse),
    ]
  #endif

  /// Returns the meaning of a code, for the beginning of a message.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - sender: The name of what sends, such as "libcurl".
  /// - Returns: The text.
  package static func meaning(of code: NetworkError.Code, for sender: String) -> String {
    switch code {
    case .cannotConnect: "no connection could be made"
    case .dnsFailed: "the host's name could not be resolved"
    case .timedOut: "\(sender) gave up waiting"
    case .connectionLost: "the connection was lost"
    case .truncatedBody: "the response ended before it was complete"
    case .badResponse: "the response is not well-formed HTTP"
    case .invalidURL: "\(sender) does not accept the URL"
    case .tlsFailed: "no secure connection could be made"
    case .invalidTrust: "the client identity could not be opened"
    case .bodyUnreadable: "the body could not be read"
    default: "\(sender) could not send"
    }
  }
}
