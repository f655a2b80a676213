import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What an error of URLSession means.
struct TransportFailure {
  private let error: any Error

  init(_ error: any Error) { self.error = error }

  /// The error for the caller.
  var networkError: NetworkError {
    let code = self.code
    let meaning = TransportFailure.meanings[code] ?? "the platform could not send"
    return NetworkError(code, "\(meaning): \(error.localizedDescription)", underlyingError: error)
  }

  /// The code for the error.
  var code: NetworkError.Code {
    guard let error = error as? URLError else { return .transportFailed }
    if let code = TransportFailure.codes[error.code] { return code }
    return TransportFailure.code(forText: error.localizedDescription)
  }

  private static let codes: [URLError.Code: NetworkError.Code] = [
    .cannotConnectToHost: .cannotConnect, .notConnectedToInternet: .cannotConnect,
    .internationalRoamingOff: .cannotConnect, .dataNotAllowed: .cannotConnect, .callIsActive: .cannotConnect,
    .cannotFindHost: .dnsFailed, .dnsLookupFailed: .dnsFailed,
    .timedOut: .timedOut,
    .networkConnectionLost: .connectionLost, .badServerResponse: .connectionLost,
    .cannotParseResponse: .badResponse, .cannotDecodeRawData: .badResponse, .cannotDecodeContentData: .badResponse,
    // HTTP/0.9 or what looks like it; other schemes than http and https do not get here.
    .unsupportedURL: .badResponse,
    .badURL: .invalidURL,
    .secureConnectionFailed: .tlsFailed, .serverCertificateHasBadDate: .tlsFailed,
    .serverCertificateUntrusted: .tlsFailed, .serverCertificateHasUnknownRoot: .tlsFailed,
    .serverCertificateNotYetValid: .tlsFailed, .clientCertificateRejected: .tlsFailed,
    .clientCertificateRequired: .tlsFailed, .appTransportSecurityRequiresSecureConnection: .tlsFailed,
    .fileDoesNotExist: .bodyUnreadable, .noPermissionsToReadFile: .bodyUnreadable,
    .fileIsDirectory: .bodyUnreadable,
  ]

  private static func code(forText text: String) -> NetworkError.Code {
    let text = text.lowercased()
    return texts.first { text.contains($0.0) }?.1 ?? .transportFailed
  }

  /// What libcurl says, in lower case, where URLSession on Linux gives no code; the first that is found counts.
  private static let texts: [(String, NetworkError.Code)] = [
    ("remaining to read", .truncatedBody), ("outstanding read data", .truncatedBody),
    ("end of response with", .truncatedBody),
    ("broken pipe", .connectionLost), ("connection reset", .connectionLost), ("connection died", .connectionLost),
    ("empty reply", .connectionLost), ("recv failure", .connectionLost), ("send failure", .connectionLost),
    ("not closed cleanly", .connectionLost), ("syscall, errno", .connectionLost),
    ("certificate", .tlsFailed), ("ssl", .tlsFailed), ("tls", .tlsFailed),
    ("hexadecimal", .badResponse), ("chunk", .badResponse), ("header", .badResponse), ("encoding", .badResponse),
    ("http/0.9", .badResponse), ("framing", .badResponse), ("out of memory", .badResponse),
    ("invalid", .badResponse), ("unsupported", .badResponse),
  ]

  private static let meanings: [NetworkError.Code: String] = [
    .cannotConnect: "no connection could be made", .dnsFailed: "the host's name could not be resolved",
    .timedOut: "the platform gave up waiting", .connectionLost: "the connection was lost",
    .truncatedBody: "the answer ended before it was complete", .badResponse: "the answer is not well-formed HTTP",
    .invalidURL: "the platform does not accept the URL", .tlsFailed: "no secure connection could be made",
    .bodyUnreadable: "the body could not be read",
  ]
}
