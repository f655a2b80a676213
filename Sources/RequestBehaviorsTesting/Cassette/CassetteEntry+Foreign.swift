import Foundation
import RequestBehaviors

/// Entries of browsers and other tools, which tell failures in other ways than ours.
extension CassetteEntry {
  /// Whether another tool wrote the entry.
  var isForeign: Bool { json["_requestBehaviors"] == nil }

  /// Returns the failure that ended an exchange; `nil` if the response is whole.
  ///
  /// Chromium names its error. Firefox names none, and its body is then shorter than the head says.
  ///
  /// - Parameters:
  ///   - count: The number of bytes of the body in the file.
  ///   - request: The request that gets the entry.
  /// - Returns: The error.
  func foreignFailure(after count: Int, to request: NetworkRequest) -> NetworkError? {
    guard isForeign else { return nil }
    if let name = json["response"]?["_error"]?.text, let code = CassetteEntry.code(of: name) {
      return NetworkError(code, "the recorded request ended with \(name)", request: request)
    }
    guard statusCode > 0 else { return nil }
    guard let length = announcedLength, count < length else { return nil }
    return NetworkError(
      .truncatedBody,
      "the recorded body ends after \(count) of \(length) bytes; if you have changed it, remove its Content-Length",
      request: request)
  }

  /// The length of the body as the head announces it; `nil` if it does not, and for a body that was decoded.
  var announcedLength: Int? {
    let fields = HeaderFields(har: json["response"]?["headers"])
    let hasBody = method != "HEAD" && ![204, 304].contains(statusCode) && !(300..<400).contains(statusCode)
    guard hasBody, !fields.contains("Content-Encoding") else { return nil }
    return fields["Content-Length"].flatMap { Int($0) }
  }

  /// Returns the code of an error of Chromium's network stack.
  ///
  /// A request that its page cancelled is not a failure of the server.
  private static func code(of name: String) -> NetworkError.Code? {
    let error = name.replacing("net::ERR_", with: "")
    switch error {
    case "", "ABORTED": return nil
    case "NAME_NOT_RESOLVED", "NAME_RESOLUTION_FAILED", "ICANN_NAME_COLLISION": return .dnsFailed
    case "CONNECTION_REFUSED", "CONNECTION_FAILED", "ADDRESS_UNREACHABLE", "INTERNET_DISCONNECTED",
      "PROXY_CONNECTION_FAILED":
      return .cannotConnect
    case "TIMED_OUT", "CONNECTION_TIMED_OUT": return .timedOut
    case "CONTENT_LENGTH_MISMATCH", "INCOMPLETE_CHUNKED_ENCODING": return .truncatedBody
    case "INVALID_HTTP_RESPONSE", "INVALID_CHUNKED_ENCODING", "CONTENT_DECODING_FAILED": return .badResponse
    case _ where error.hasPrefix("CERT_") || error.hasPrefix("SSL_"): return .tlsFailed
    case _ where error.hasPrefix("CONNECTION_") || error.hasPrefix("HTTP2_") || error.hasPrefix("QUIC_"),
      "EMPTY_RESPONSE", "NETWORK_CHANGED", "SOCKET_NOT_CONNECTED":
      return .connectionLost
    default: return .transportFailed
    }
  }
}
