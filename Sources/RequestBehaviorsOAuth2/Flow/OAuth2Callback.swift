import Foundation
import RequestBehaviors

/// Reads the URL with which a server ends a sign-in (RFC 6749 §4.1.2).
enum OAuth2Callback {
  /// The meaning of a URL for a sign-in.
  enum Outcome: Sendable, Hashable {
    case code(String)
    /// The URL is not of this sign-in, which goes on waiting.
    case unexpected(String)
    /// The URL is of this sign-in and breaks a rule.
    case invalid(String)
    case refused(OAuth2Problem)
  }

  /// Whether a parameter is read by this.
  static func reads(_ name: String) -> Bool {
    ["code", "state", "iss", "error", "error_description", "error_uri"].contains(name)
      || foreignNames.contains(name)
  }

  /// The parameters of flows in which tokens pass through the browser.
  private static let foreignNames = ["access_token", "id_token", "response"]

  /// Returns the meaning of a URL.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - signIn: The sign-in that waits.
  /// - Returns: The meaning.
  static func read(_ url: URL, for signIn: OAuth2SignIn) -> Outcome {
    var pairs = FormPairs("")
    if let reason = mismatch(url, signIn.redirectURI, &pairs) { return .unexpected(reason) }
    // Only the server and this sign-in know the state: nothing else can end it, not even an error.
    guard pairs.pairs.count(where: { $0.name == "state" && $0.value != "" }) == 1,
      let state = pairs.values("state")[0], areEqualInConstantTime(state, signIn.state)
    else { return .unexpected("its state is not that of this sign-in") }
    let fragment = FormPairs(url.fragment(percentEncoded: true) ?? "")
    if let name = foreignNames.first(where: { (pairs.names + fragment.names).contains($0) }) {
      return .invalid("it has \(name), which is of another flow")
    }
    var values: [String: String] = [:]
    for name in ["code", "iss", "error", "error_description", "error_uri"] {
      let found = pairs.values(name)
      if found.count > 1 { return .invalid("it has \(name) twice (RFC 6749 §3.1)") }
      if found.contains(nil) { return .invalid("its \(name) has a bad escape, or is not UTF-8") }
      values[name] = found.first ?? nil
    }
    if let reason = mixUp(values["iss"], signIn) { return .invalid(reason) }
    return decision(values)
  }

  /// Compares the issuer (RFC 9207 §2.4); returns the broken rule.
  private static func mixUp(_ found: String?, _ signIn: OAuth2SignIn) -> String? {
    guard let issuer = signIn.issuer else { return nil }
    if let found { return found == issuer ? nil : "its iss is that of another server (RFC 9207 §2.4)" }
    return signIn.announcesIssuer ? "it lacks iss, which the server announces (RFC 9207 §2.4)" : nil
  }

  private static func decision(_ values: [String: String]) -> Outcome {
    if let error = values["error"] {
      guard values["code"] == nil else { return .invalid("it has both a code and an error") }
      guard
        let problem = OAuth2Problem(
          code: error, details: values["error_description"], page: values["error_uri"])
      else { return .invalid("its error has characters that RFC 6749 §4.1.2.1 does not allow") }
      return .refused(problem)
    }
    guard let code = values["code"] else { return .invalid("it has neither a code nor an error") }
    // RFC 6749 App. A.11.
    guard code.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      return .invalid("its code has characters that are not visible ASCII")
    }
    return .code(code)
  }

  /// Compares a URL with the redirect URI, and reads its pairs; returns the difference.
  private static func mismatch(_ url: URL, _ redirect: URL, _ pairs: inout FormPairs) -> String? {
    guard let found = URLComponents(url: url, resolvingAgainstBaseURL: true),
      let wanted = URLComponents(url: redirect, resolvingAgainstBaseURL: true)
    else { return "it is not a URL" }
    guard found.scheme?.lowercased() == wanted.scheme?.lowercased(),
      (found.percentEncodedHost ?? "").lowercased() == (wanted.percentEncodedHost ?? "").lowercased(),
      port(found) == port(wanted), found.percentEncodedUser == nil
    else { return "its scheme, host or port is not that of the redirect URI" }
    let paths = [found, wanted].map { $0.percentEncodedPath.isEmpty ? "/" : $0.percentEncodedPath }
    guard paths[0] == paths[1] else {
      let differsInSlash = paths[0] == paths[1] + "/" || paths[1] == paths[0] + "/"
      return "its path is not that of the redirect URI"
        + (differsInSlash ? ": they differ in the slash at the end" : "")
    }
    pairs = FormPairs(found.percentEncodedQuery ?? "")
    guard pairs.remove(FormPairs(wanted.percentEncodedQuery ?? "")) else {
      return "it lacks the redirect URI's own query"
    }
    return nil
  }

  private static func port(_ parts: URLComponents) -> Int? {
    if let port = parts.port { return port }
    return switch parts.scheme?.lowercased() {
    case "https": 443
    case "http": 80
    default: nil
    }
  }
}
