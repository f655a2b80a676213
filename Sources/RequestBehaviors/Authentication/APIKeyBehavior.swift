/// Sends a secret key in a header field.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.apiKey("X-API-Key", key)])
/// ```
///
/// The field is hidden in logs and errors, and goes to its origins only. A field of the name that the user sets on a
/// request wins. A request with authentication `.none`, or `.only` of another name, carries no key; one that every
/// request shall carry, whatever its ``RequestOptions/authentication``, is set by ``HeadersBehavior`` and marked there.
///
/// A key of the app has no owner. The key of a user, such as a personal access token, needs an ``owner`` where requests
/// or responses are kept: a queue such as the outbox of `RequestBehaviorsSQLite` sends a request with the key of the
/// owner who made it, or not at all.
public struct APIKeyBehavior: UniqueBehavior, CredentialBehavior {
  /// Once per call, as other fields.
  public let order = BehaviorOrder.request
  /// `true`, because `intercept` holds nothing that a prerequisite could wait for.
  public let runsForPrerequisites = true
  /// The field's name in lower case, so that a list may have several keys.
  public let name: String
  /// The name by which ``AuthenticationRequirement/only(_:)`` asks for the key.
  public let credential: String
  /// The servers that the key may be sent to.
  public let origins: OriginScope
  /// The name of the user whose key it is; `nil` if it is the app's.
  public let owner: String?
  /// The field that carries the key.
  public var credentialField: String? { field.name }
  private let field: HeaderFields.Field

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - header: The field's name.
  ///   - key: The key.
  ///   - credential: The name by which a request asks for the key; by default the field's.
  ///   - origins: The servers it may be sent to; by default the base URL's.
  ///   - owner: The name of the user whose key it is, such as the user's id; by default it is the app's.
  public init(
    _ header: String, _ key: String, credential: String? = nil, origins: OriginScope = .baseURL, owner: String? = nil
  ) {
    self.name = header.lowercased()
    self.credential = credential ?? header
    self.origins = origins
    self.owner = owner
    self.field = HeaderFields.Field(header, key, sensitive: origins)
  }

  /// Returns the field.
  public func headers(for request: NetworkRequest) async throws -> HeaderFields { HeaderFields([field]) }

  /// Returns the ``owner``.
  public func scope(for request: NetworkRequest) -> String? {
    guard let owner, applies(to: request) else { return nil }
    return "\(credential):\(owner)"
  }
}

extension APIKeyBehavior: CustomReflectable, CustomStringConvertible {
  /// The name of the type and of the field; not the key.
  public var description: String { "APIKeyBehavior(\(field.name))" }

  /// A mirror without children: dumping a behavior must not show a key.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension RequestBehavior where Self == APIKeyBehavior {
  /// Sends a secret key: hidden in logs and errors, and sent to its origins only; see ``APIKeyBehavior``.
  public static func apiKey(
    _ header: String, _ key: String, credential: String? = nil, origins: OriginScope = .baseURL, owner: String? = nil
  ) -> APIKeyBehavior {
    APIKeyBehavior(header, key, credential: credential, origins: origins, owner: owner)
  }

  /// Sends a fixed token as `Authorization: Bearer …` (RFC 6750 §2.1); one that expires is a ``TokenSession``'s.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - origins: The servers it may be sent to; by default the base URL's.
  ///   - owner: The name of the user whose token it is, such as the user's id; by default it is the app's.
  /// - Returns: The behavior, whose credentials have the name `bearer`.
  public static func bearer(
    _ token: String, origins: OriginScope = .baseURL, owner: String? = nil
  ) -> APIKeyBehavior {
    APIKeyBehavior("Authorization", "Bearer \(token)", credential: "bearer", origins: origins, owner: owner)
  }
}
