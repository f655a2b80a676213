public import Foundation
import RequestBehaviors

/// The reason that a server gives for refusing a step of OAuth 2: its code, details, and a page about it.
///
/// ```swift
/// do {
///   try await flow.signIn { url in try await browser.open(url) }
/// } catch let error as NetworkError
///   where error.oauth2?.code == .invalidScope
/// {
///   offerFewerFeatures()
/// }
/// ```
public struct OAuth2Problem: Error, Sendable, Hashable {
  /// The code of a refusal.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The word that the server sends.
    public let rawValue: String

    /// Creates a code from the word that the server sends.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The word that the server sends.
    public var description: String { rawValue }
  }

  /// The code.
  public let code: Code
  /// The server's sentence for developers, at most 256 characters; `nil` if it sent none.
  public let details: String?
  /// A page about the problem, http or https; `nil` if the server sent none.
  public let page: URL?

  /// Creates a problem.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - details: The server's sentence for developers.
  ///   - page: A page about the problem.
  public init(_ code: Code, details: String? = nil, page: URL? = nil) {
    self.code = code
    self.details = details
    self.page = page
  }

  /// Reads the three values of a refusal; `nil` if the code has characters that RFC 6749 §4.1.2.1 does not allow.
  ///
  /// The redactor hides the secrets of the code and the details, in which a server may repeat what it was sent.
  init?(code: String?, details: String?, page: String?, redactor: Redactor = .standard) {
    guard let code, !code.isEmpty, code.utf8.count <= 256,
      code.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
    else { return nil }
    let line = details.map { text in
      String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isVisible ? $0 : " " }))
    }
    let url = page.flatMap { URL(string: $0) }
    self.init(
      Code(rawValue: redactor.redact(text: code)),
      details: line.flatMap { $0.isEmpty ? nil : redactor.redact(beginningOf: $0, limit: 256) },
      page: ["http", "https"].contains(url?.scheme?.lowercased() ?? "") ? url : nil)
  }

  /// Reads the refusal in a response: a JSON object with an `error`, else a challenge with one; `nil` if both lack it.
  init?(_ response: NetworkResponse) {
    guard response.isVerified else { return nil }
    // A secret that the cut divides would not be found later.
    let redactor = Redactor.standard.hiding(secretsOf: response.request)
    if let members = JSONObject(response),
      let problem = OAuth2Problem(
        code: members.text("error"), details: members.text("error_description"), page: members.text("error_uri"),
        redactor: redactor)
    {
      self = problem
      return
    }
    let challenges = response.headers.values(for: "WWW-Authenticate").flatMap(AuthenticationScheme.list)
    guard let challenge = challenges.first(where: { $0.error != nil }) else { return nil }
    func value(_ name: String) -> String? { challenge.parameters.first { $0.name.lowercased() == name }?.value }
    self.init(
      code: challenge.error, details: value("error_description"), page: value("error_uri"), redactor: redactor)
  }
}

extension Unicode.Scalar {
  /// Whether a terminal shows the character and does nothing else: control characters act, others turn the direction.
  var isVisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}

extension OAuth2Problem: CustomStringConvertible, CustomReflectable {
  /// The code and the details.
  public var description: String { details.map { "\(code): \($0)" } ?? "\(code)" }

  /// Only the description: the address of a page may hold secrets.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

// RFC 6749 §4.1.2.1 and §5.2.
extension OAuth2Problem.Code {
  /// A parameter is missing, wrong or there twice.
  public static let invalidRequest = Self(rawValue: "invalid_request")
  /// The client may not use this grant.
  public static let unauthorizedClient = Self(rawValue: "unauthorized_client")
  /// The user or the server refused.
  public static let accessDenied = Self(rawValue: "access_denied")
  /// The server does not give codes.
  public static let unsupportedResponseType = Self(rawValue: "unsupported_response_type")
  /// A scope is unknown, or more than the user may give.
  public static let invalidScope = Self(rawValue: "invalid_scope")
  /// The server failed.
  public static let serverError = Self(rawValue: "server_error")
  /// The server is overloaded or under repair.
  public static let temporarilyUnavailable = Self(rawValue: "temporarily_unavailable")
  /// The client id is unknown, or the client's secret, assertion or certificate is wrong.
  public static let invalidClient = Self(rawValue: "invalid_client")
  /// The code or refresh token is expired, revoked, spent, or of another client or redirect URI.
  public static let invalidGrant = Self(rawValue: "invalid_grant")
  /// The server does not know the grant.
  public static let unsupportedGrantType = Self(rawValue: "unsupported_grant_type")
}

// RFC 8628, 6750, 7009, 8707, 9449, 9470 and OpenID Connect.
extension OAuth2Problem.Code {
  /// The user has not decided yet (RFC 8628 §3.5).
  public static let authorizationPending = Self(rawValue: "authorization_pending")
  /// The user has not decided yet, and the client asks too often (RFC 8628 §3.5).
  public static let slowDown = Self(rawValue: "slow_down")
  /// The device code has expired (RFC 8628 §3.5).
  public static let expiredToken = Self(rawValue: "expired_token")
  /// The token is expired, revoked or malformed (RFC 6750 §3.1).
  public static let invalidToken = Self(rawValue: "invalid_token")
  /// The token lacks a scope (RFC 6750 §3.1).
  public static let insufficientScope = Self(rawValue: "insufficient_scope")
  /// The server does not revoke tokens of this kind (RFC 7009 §2.2.1).
  public static let unsupportedTokenType = Self(rawValue: "unsupported_token_type")
  /// The resource is unknown or not allowed (RFC 8707 §2).
  public static let invalidTarget = Self(rawValue: "invalid_target")
  /// The proof needs the nonce that the server sent (RFC 9449 §8).
  public static let useDPoPNonce = Self(rawValue: "use_dpop_nonce")
  /// The proof is wrong (RFC 9449 §5).
  public static let invalidDPoPProof = Self(rawValue: "invalid_dpop_proof")
  /// The user must sign in again, or in a stronger way (RFC 9470 §3).
  public static let insufficientUserAuthentication = Self(rawValue: "insufficient_user_authentication")
  /// No user is signed in at the server (OpenID Connect Core §3.1.2.6).
  public static let loginRequired = Self(rawValue: "login_required")
  /// The user must consent (OpenID Connect Core §3.1.2.6).
  public static let consentRequired = Self(rawValue: "consent_required")
  /// The user must do something (OpenID Connect Core §3.1.2.6).
  public static let interactionRequired = Self(rawValue: "interaction_required")
  /// The user must choose an account (OpenID Connect Core §3.1.2.6).
  public static let accountSelectionRequired = Self(rawValue: "account_selection_required")
}
