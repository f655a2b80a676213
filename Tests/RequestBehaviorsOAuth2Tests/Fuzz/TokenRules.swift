import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2

/// The rules for the responses of a token endpoint, written down a second time, on values that a test has made.
enum TokenRules {
  /// The outcome that the rules give to a response.
  enum Outcome: Equatable {
    case token(String, refreshToken: String?)
    case signedOut
    case unchanged
  }

  /// The object that may speak for the server.
  static func object(_ response: RandomResponse) -> [String: MemberValue]? {
    response.isPage ? nil : response.members
  }

  static func outcome(_ response: RandomResponse) -> Outcome {
    guard let members = object(response), response.status < 500, !(300..<400).contains(response.status) else {
      return .unchanged
    }
    if members["error"] == .text("invalid_grant") { return .signedOut }
    guard response.status < 300, [nil, .null, .text("")].contains(members["error"]) else { return .unchanged }
    guard let value = members["access_token"]?.asText, !value.isEmpty,
      value.unicodeScalars.allSatisfy({ (0x21...0x7E).contains($0.value) }),
      [nil, .null, .text("bearer")].contains(members["token_type"].map(lowercased)),
      hasUsableLifetime(members["expires_in"])
    else { return .unchanged }
    let refreshToken = members["refresh_token"]?.asText
    return .token(value, refreshToken: refreshToken == "" ? nil : refreshToken)
  }

  private static func lowercased(_ value: MemberValue) -> MemberValue {
    value.asText.map { .text($0.lowercased()) } ?? value
  }

  private static func hasUsableLifetime(_ value: MemberValue?) -> Bool {
    switch value {
    case nil, .null?, .text("")?: true
    case .number(let digits)?: Double(digits)?.isFinite == true
    case .text(let text)?: Double(text)?.isFinite == true
    default: false
    }
  }

  /// The code of the error that a response to the exchange of a code leads to; `nil` for a token.
  static func code(_ response: RandomResponse) -> NetworkError.Code? {
    if (200..<300).contains(response.status), case .token = outcome(response) { return nil }
    return refusal(response) ?? (response.status < 300 ? .oauth2InvalidResponse : .unacceptableStatus)
  }

  /// The code of the refusal in a response; `nil` if there is no refusal in it.
  static func refusal(_ response: RandomResponse) -> NetworkError.Code? {
    word(response).map {
      switch $0 {
      case "access_denied": .oauth2Denied
      case "expired_token": .oauth2Expired
      default: .oauth2Refused
      }
    }
  }

  /// The error of a response, if its characters are those of RFC 6749 §5.2.
  static func word(_ response: RandomResponse) -> String? {
    guard let word = object(response)?["error"]?.asText, !word.isEmpty, word.utf8.count <= 256,
      word.unicodeScalars.allSatisfy({ (0x20...0x7E).contains($0.value) && $0 != "\"" && $0 != "\\" })
    else { return nil }
    return word
  }
}
