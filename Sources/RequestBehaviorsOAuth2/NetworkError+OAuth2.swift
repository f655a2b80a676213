import Foundation
public import RequestBehaviors

extension NetworkError.Code {
  /// The server refused a step of the sign-in; the `oauth2` of the error has its reason.
  public static let oauth2Refused = Self(rawValue: "oauth2Refused")
  /// The user, or the server for the user, refused.
  public static let oauth2Denied = Self(rawValue: "oauth2Denied")
  /// The callback is not of this sign-in, which goes on waiting for its own.
  public static let oauth2UnexpectedCallback = Self(rawValue: "oauth2UnexpectedCallback")
  /// The callback or a response of the server breaks a rule that the message names; the sign-in is over.
  public static let oauth2InvalidResponse = Self(rawValue: "oauth2InvalidResponse")
  /// The sign-in took too long; begin another one.
  public static let oauth2Expired = Self(rawValue: "oauth2Expired")
  /// The same callback was handed over before; its code was exchanged or is being exchanged.
  public static let oauth2AlreadyFinished = Self(rawValue: "oauth2AlreadyFinished")
  /// The description of the server or of the app breaks a rule that the message names.
  public static let oauth2InvalidServer = Self(rawValue: "oauth2InvalidServer")
  /// A key could not sign, or its signature is not of the form that JWS asks for.
  public static let oauth2SigningFailed = Self(rawValue: "oauth2SigningFailed")
  /// The user closed the sign-in page.
  public static let oauth2Dismissed = Self(rawValue: "oauth2Dismissed")
}

extension NetworkError {
  /// The server's reason for refusing a step of OAuth 2; `nil` if the error has another reason.
  ///
  /// It is found in the response, or in the callback of a sign-in, also if this error was caused by the one that has
  /// it.
  public var oauth2: OAuth2Problem? {
    if let problem = underlyingError as? OAuth2Problem { return problem }
    if let problem = response.flatMap({ OAuth2Problem($0) }) { return problem }
    return (underlyingError as? NetworkError)?.oauth2
  }

  static func invalidServer(_ message: String) -> NetworkError { NetworkError(.oauth2InvalidServer, message) }

  static func invalidResponse(_ message: String, _ response: NetworkResponse? = nil) -> NetworkError {
    NetworkError(.oauth2InvalidResponse, message, response: response)
  }

  /// Returns the error for a refusal in a response; without one, it came in a callback.
  static func refusal(
    _ problem: OAuth2Problem, of step: String, _ response: NetworkResponse? = nil
  ) -> NetworkError {
    let code: Code =
      switch problem.code {
      case .accessDenied: .oauth2Denied
      case .expiredToken: .oauth2Expired
      default: .oauth2Refused
      }
    return NetworkError(
      code, "the server refused \(step): \(problem)", response: response, underlyingError: problem)
  }

  /// Returns the error of a step of a sign-in for the error of its request.
  static func ofStep(_ step: String, _ error: any Error) -> any Error {
    guard let error = error as? NetworkError, let response = error.response else { return error }
    if let problem = OAuth2Problem(response) { return refusal(problem, of: step, response) }
    // The token endpoint's own reader found no token in a 2xx response.
    guard error.code == .tokenUnavailable else { return error }
    return NetworkError(.oauth2InvalidResponse, error.message, response: response)
  }
}

extension NetworkResponse {
  /// Whether the server calls the body a page for a person.
  var isHTML: Bool { headers[.contentType]?.lowercased().contains("html") ?? false }

  /// Whether the server calls the body a page, and it looks like one.
  var isPage: Bool {
    guard isHTML, let body = try? data else { return false }
    return String(decoding: body.prefix(1_024), as: UTF8.self).first { !$0.isWhitespace && $0 != "\u{FEFF}" } == "<"
  }
}
