import Foundation

extension AccessToken: Codable {
  /// Decodes the response of a token endpoint, or a token that was encoded.
  ///
  /// Names are compared without regard to case and underscores, so that any key strategy of the decoder will do. The
  /// token is `access_token`, else `token`, else the only other member whose name ends in `token`. The expiry is
  /// `expires_at` or `expires_in`; a number or a text of digits is a lifetime in seconds under the second name and
  /// seconds since 1970 under the first (milliseconds from 10¹² on); an ISO 8601 text such as
  /// `2014-09-19T12:22:21.570Z` is a date under either. `scope` is a text of names between spaces, or an array.
  ///
  /// An empty `refresh_token` or `token_type` counts as a missing one.
  ///
  /// - Throws: `DecodingError` if there is no token, if it is empty or has control characters, or if an expiry cannot
  ///   be read; the error shows no value.
  public init(from decoder: any Decoder) throws {
    let answer = try TokenResponse(decoder)
    self.init(
      try answer.value(), type: answer.type() ?? "Bearer", refreshToken: answer.refreshToken(), scopes: answer.scopes())
    if hasControlCharacters { throw answer.problem("the token has control characters") }
    sessionID = answer.text("tokensession")
    signInID = answer.text("tokensignin")
    keyThumbprint = answer.text("tokenkey")
    if let expiry = try answer.expiry("expiresat") { expiresAt = expiry.date ?? Expiry.epoch(expiry.number) }
    if let expiry = try answer.expiry("expiresin") {
      if let date = expiry.date { expiresAt = expiresAt ?? date } else { lifetime = expiry.lifetime }
    }
  }

  /// Encodes the token with the names of OAuth 2, dates as seconds since 1970.
  ///
  /// The result holds the secrets.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(value, forKey: Key("access_token"))
    try container.encode(type, forKey: Key("token_type"))
    try container.encodeIfPresent(expiresAt.map { Expiry.number(of: $0) }, forKey: Key("expires_at"))
    try container.encodeIfPresent(lifetime?.inSeconds, forKey: Key("expires_in"))
    try container.encodeIfPresent(refreshToken, forKey: Key("refresh_token"))
    if !scopes.isEmpty { try container.encode(scopes.sorted().joined(separator: " "), forKey: Key("scope")) }
    try container.encodeIfPresent(sessionID, forKey: Key("token_session"))
    try container.encodeIfPresent(signInID, forKey: Key("token_sign_in"))
    try container.encodeIfPresent(keyThumbprint, forKey: Key("token_key"))
  }
}

private struct Key: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }

  /// The name without case and punctuation.
  var plain: String { stringValue.lowercased().filter(\.isLetter) }
}

/// An expiry as it was written.
private struct Expiry {
  let date: Date?
  let number: Double

  var lifetime: Duration { Duration(clamping: max(0, number)) }

  /// Returns the date of a number since 1970, at most 100 years from then.
  static func epoch(_ number: Double) -> Date {
    Date(timeIntervalSince1970: Duration(clamping: EpochTime.seconds(number)).inSeconds)
  }

  /// Returns the number that is written for a date: its seconds since 1970.
  static func number(of date: Date) -> Double {
    let seconds = date.timeIntervalSince1970
    // Earlier versions read a larger number as milliseconds. Reading limits the date in the same way.
    return abs(seconds) < 1e11 ? seconds : Duration(clamping: seconds).inSeconds
  }
}

/// The members of a response, by their plain names.
private struct TokenResponse {
  private let container: KeyedDecodingContainer<Key>
  private var keys: [String: Key] = [:]

  init(_ decoder: any Decoder) throws {
    container = try decoder.container(keyedBy: Key.self)
    for key in container.allKeys { keys[key.plain] = key }
  }

  func value() throws -> String {
    if let value = text("accesstoken") ?? text("token") { return try checked(value) }
    let others = keys.keys.filter { $0.hasSuffix("token") && !["refreshtoken", "idtoken"].contains($0) }
    guard others.count == 1, let name = others.first, let value = text(name) else {
      throw problem("there is no access_token")
    }
    return try checked(value)
  }

  func type() -> String? { text("tokentype").flatMap { $0.isEmpty ? nil : $0 } }

  func refreshToken() -> String? { text("refreshtoken").flatMap { $0.isEmpty ? nil : $0 } }

  func text(_ name: String) -> String? { keys[name].flatMap { try? container.decode(String.self, forKey: $0) } }

  func scopes() -> Set<String> {
    guard let key = keys["scope"] ?? keys["scopes"] else { return [] }
    if let list = try? container.decode([String].self, forKey: key) { return Set(list) }
    return Set((try? container.decode(String.self, forKey: key))?.split(separator: " ").map(String.init) ?? [])
  }

  func expiry(_ name: String) throws -> Expiry? {
    guard let key = keys[name], (try? container.decodeNil(forKey: key)) == false else { return nil }
    if let number = try? container.decode(Double.self, forKey: key) { return Expiry(date: nil, number: number) }
    if let text = try? container.decode(String.self, forKey: key) {
      if let number = Double(text) { return Expiry(date: nil, number: number) }
      if let date = ISO8601.date(from: text) { return Expiry(date: date, number: 0) }
    }
    throw problem("\(key.stringValue) is neither a number of seconds nor an ISO 8601 date")
  }

  private func checked(_ value: String) throws -> String {
    if value.isEmpty { throw problem("the token is empty") }
    return value
  }

  func problem(_ message: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: container.codingPath, debugDescription: message))
  }
}
