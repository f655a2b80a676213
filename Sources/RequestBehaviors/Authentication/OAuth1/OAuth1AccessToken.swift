/// What a finished sign-in gives: the user's credentials and what else the service told (RFC 5849 §2.3).
///
/// ```swift
/// let access = try await flow.signIn { url in try await browser.open(url) }
/// try keychain.store(access.credentials)
/// let name = access["screen_name"]
/// ```
public struct OAuth1AccessToken: Sendable, CustomStringConvertible, CustomReflectable {
  /// The user's token and secret.
  public let credentials: OAuth1Credentials
  /// Everything else that the service told, decoded and in its order, such as `screen_name`.
  public let fields: [(name: String, value: String)]

  /// The first value of a field; `nil` if the service did not tell it.
  public subscript(name: String) -> String? {
    fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The names of the fields, without values.
  public var description: String { "OAuth1AccessToken(fields: \(fields.map(\.name)))" }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
