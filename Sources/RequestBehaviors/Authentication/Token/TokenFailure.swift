import Foundation

/// Decides what an error of a token source means for the session.
enum TokenFailure {
  /// Whether the server said, verifiably, that there will be no token: RFC 6749 §5.2, and 401 and 403 at large.
  static func isTerminal(_ error: any Error) -> Bool {
    guard let error = error as? NetworkError else { return false }
    if error.code == .notSignedIn { return true }
    guard error.code == .unacceptableStatus, let response = error.response, response.isVerified else { return false }
    switch response.statusCode {
    case 401, 403: return true
    case 400: return oauthError(of: response) == "invalid_grant"
    default: return false
    }
  }

  private struct ErrorBody: Decodable {
    let error: String
  }

  private static func oauthError(of response: NetworkResponse) -> String? {
    guard case .data(let data) = response.body else { return nil }
    return (try? JSONDecoder().decode(ErrorBody.self, from: data))?.error
  }
}
