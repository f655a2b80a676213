/// Whether a request is authenticated, and by whom.
///
/// ```swift
/// let token: AccessToken = try await client.send(
///   .post("login", body: .json(form)).with(\.authentication, .none))
/// try await client.send(.get("feed").with(\.authentication, .optional))
/// try await client.send(
///   .get("catalog").with(\.authentication, .only("app")))
/// ```
public struct AuthenticationRequirement: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case required, optional, none
    case only(String)
  }

  let kind: Kind

  /// The request is not sent without the credentials of the behaviors that are listed, the default.
  ///
  /// It fails if they cannot be had. Where a request or the configuration says so explicitly, it also fails if it goes
  /// to an origin that none of them are for; by default it is then sent without, which a 401 tells.
  public static let required = AuthenticationRequirement(kind: .required)

  /// The request is sent without credentials if none can be had.
  public static let optional = AuthenticationRequirement(kind: .optional)

  /// The request carries no credentials of a ``CredentialBehavior``, and its 401 is left alone.
  public static let none = AuthenticationRequirement(kind: .none)

  /// The request is authenticated by the credentials of a name only; others pass it by.
  ///
  /// - Parameter name: The ``CredentialBehavior/credential`` of a behavior of the client, such as the name of a
  ///   session; that it has none of the name is an error, and so is that they are not for the request's origin.
  /// - Returns: The requirement.
  public static func only(_ name: String) -> AuthenticationRequirement { AuthenticationRequirement(kind: .only(name)) }

  /// Whether the credentials of a name are wanted.
  ///
  /// - Parameter name: The name; `nil` for credentials that no request can ask for by name.
  /// - Returns: `false` for `.none`, and for `.only` of another name.
  public func includes(_ name: String?) -> Bool {
    switch kind {
    case .required, .optional: true
    case .none: false
    case .only(let wanted): wanted == name
    }
  }

  /// The name of the session that alone authenticates the request; `nil` if others may.
  var onlyName: String? { if case .only(let name) = kind { name } else { nil } }

  /// Whether the request is sent without credentials if none can be had.
  public var isOptional: Bool { kind == .optional }
}

private enum Authentication: RequestOption {
  static let defaultValue = AuthenticationRequirement.required
  // A request that wants no credentials wants none after a redirect either.
  static let isPortable = true

  static func warning(for value: AuthenticationRequirement, in pipeline: Pipeline) -> String? {
    guard value == .required, !pipeline.entries.contains(where: { $0.credential != nil }) else { return nil }
    return "the option authentication requires credentials, but no CredentialBehavior is listed that has any"
  }
}

extension RequestOptions {
  /// What the request or the configuration says itself of authentication.
  var explicitAuthentication: AuthenticationRequirement? { explicit(Authentication.self) }

  /// Removes an explicit demand for credentials, which a client without them could not meet.
  mutating func withdrawRequiredAuthentication() {
    switch explicitAuthentication?.kind {
    case .required, .only: reset(Authentication.self)
    case .optional, .none?, nil: break
    }
  }

  /// Whether the request is authenticated, and by whom; required by default where a behavior is listed for it.
  public var authentication: AuthenticationRequirement {
    get { self[Authentication.self] }
    set { self[Authentication.self] = newValue }
  }
}
