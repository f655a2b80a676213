import Foundation

/// The response of a token endpoint, read strictly as RFC 6749 §5 writes it: a token that is found here will be sent.
///
/// ``AccessToken``'s own decoding, for logins that are not OAuth, is tolerant.
struct TokenEndpointResponse: Sendable {
  /// The code of the refusal (§5.2); `nil` if the response is no refusal.
  let error: String?
  /// The token, or the problem of a response without a token.
  let token: Result<AccessToken, Problem>

  /// The problem of a response, described without any of its values.
  struct Problem: Error {
    let text: String
  }

  /// Reads the body of a response; `nil` if it is not a JSON object.
  ///
  /// - Parameters:
  ///   - data: The body.
  ///   - types: The types that a token may have, in lower case.
  init?(_ data: Data, type types: Set<String> = ["bearer"]) {
    guard let members = try? JSONDecoder().decode(Members.self, from: data) else { return nil }
    error = members.text("error").flatMap { $0.isEmpty ? nil : $0 }
    token = Result { () throws(Problem) in try members.token(types) }
  }

  /// Reads the response; `nil` if it is not a JSON object.
  init?(_ response: NetworkResponse, type types: Set<String> = ["bearer"]) {
    guard case .data(let data) = response.body else { return nil }
    let type = response.headers[.contentType]?.lowercased() ?? ""
    if type.contains("html") { return nil }
    self.init(data, type: types)
  }

  /// The members of the object, by their exact names.
  private struct Members: Decodable {
    private struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(_ name: String) { stringValue = name }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    private let container: KeyedDecodingContainer<Name>

    init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: Name.self) }

    private func value<Value: Decodable>(_ name: String) -> Value? {
      try? container.decode(Value.self, forKey: Name(name))
    }

    func text(_ name: String) -> String? { value(name) }

    /// Whether the object has this member and its value is not `null`.
    private func has(_ name: String) -> Bool {
      container.contains(Name(name)) && (try? container.decodeNil(forKey: Name(name))) != true
    }

    func token(_ types: Set<String>) throws(Problem) -> AccessToken {
      // A server that has its own kind of error has refused all the same.
      guard !has("error") || text("error") != nil else { throw Problem(text: "its error is not a text") }
      guard let value = text("access_token"), !value.isEmpty else { throw Problem(text: "there is no access_token") }
      guard value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw Problem(text: "access_token has characters that are not visible ASCII")
      }
      // RFC 6749 §7.1: a client must not use a token whose type it does not understand.
      let type = has("token_type") ? text("token_type")?.lowercased() : "bearer"
      guard let type, types.contains(type) else {
        let names = types.sorted().map { $0 == "dpop" ? "DPoP" : "Bearer" }.joined(separator: " or ")
        throw Problem(text: "token_type is not \(names)")
      }
      var token = AccessToken(
        value, type: type == "dpop" ? "DPoP" : "Bearer", lifetime: try lifetime(), scopes: scopes())
      if let refreshToken = text("refresh_token"), !refreshToken.isEmpty { token.refreshToken = refreshToken }
      return token
    }

    /// The lifetime; `nil` if the server sends none, or one that is not positive.
    private func lifetime() throws(Problem) -> Duration? {
      guard has("expires_in"), text("expires_in") != "" else { return nil }
      let seconds: Double? = value("expires_in") ?? text("expires_in").flatMap { Double($0) }
      guard let seconds, seconds.isFinite else { throw Problem(text: "expires_in is not a number of seconds") }
      return seconds > 0 ? Duration(clamping: seconds) : nil
    }

    private func scopes() -> Set<String> {
      let list: [String]? = value("scope")
      return Set(list ?? text("scope")?.split(separator: " ").map(String.init) ?? [])
    }
  }
}
