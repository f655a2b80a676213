/// Whether a request is authenticated, and with which credentials.
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
    case optionalWithout(Set<String>)
  }

  let kind: Kind

  /// The request is not sent without the credentials of the behaviors in the list (the default).
  ///
  /// The request fails if the credentials are unavailable. If the request or the configuration sets this option
  /// explicitly, it also fails when it goes to an origin that no credentials are for. By default such a request is sent
  /// without credentials, and the error of a 401 says so.
  public static let required = AuthenticationRequirement(kind: .required)

  /// The request is sent without credentials if no credentials are available.
  public static let optional = AuthenticationRequirement(kind: .optional)

  /// The request carries no credentials of a ``CredentialBehavior``, and its 401 is left alone.
  public static let none = AuthenticationRequirement(kind: .none)

  /// The request is authenticated only by the credentials of one name.
  ///
  /// Credential behaviors of other names add nothing.
  ///
  /// - Parameter name: The ``CredentialBehavior/credential`` of a behavior of the client, such as the name of a
  ///   session. The request fails if the client has no credentials of that name, or if they are not for the request's
  ///   origin.
  /// - Returns: The requirement.
  public static func only(_ name: String) -> AuthenticationRequirement { AuthenticationRequirement(kind: .only(name)) }

  /// As ``optional``, but without the credentials of some names.
  package static func optional(without names: Set<String>) -> AuthenticationRequirement {
    AuthenticationRequirement(kind: .optionalWithout(names))
  }

  /// Whether the credentials of a name are wanted.
  ///
  /// - Parameter name: The name; `nil` for credentials that no request can ask for by name.
  /// - Returns: `false` for `.none`, and for `.only` of another name.
  public func includes(_ name: String?) -> Bool {
    switch kind {
    case .required, .optional: true
    case .none: false
    case .only(let wanted): wanted == name
    case .optionalWithout(let unwanted): name.map { !unwanted.contains($0) } ?? true
    }
  }

  /// The name of the only session that authenticates the request; `nil` if others may.
  package var onlyName: String? { if case .only(let name) = kind { name } else { nil } }

  /// Whether the request is sent without credentials if no credentials are available.
  public var isOptional: Bool {
    switch kind {
    case .optional, .optionalWithout: true
    case .required, .none, .only: false
    }
  }
}

private enum Authentication: RequestOption {
  static let defaultValue = AuthenticationRequirement.required
  // A request without credentials carries none after a redirect either.
  static let isPortable = true

  static func warning(for value: AuthenticationRequirement, in pipeline: Pipeline) -> String? {
    guard value == .required, !pipeline.entries.contains(where: { $0.credential != nil }) else { return nil }
    return "the option authentication requires credentials, but no CredentialBehavior is listed that has any"
  }
}

extension RequestOptions {
  /// The authentication that the request or the configuration sets explicitly.
  package var explicitAuthentication: AuthenticationRequirement? { explicit(Authentication.self) }

  /// Removes an explicit requirement of credentials, because a client without credentials could not meet it.
  mutating func withdrawRequiredAuthentication() {
    switch explicitAuthentication?.kind {
    case .required, .only: reset(Authentication.self)
    case .optional, .optionalWithout, .none?, nil: break
    }
  }

  /// Whether the request is authenticated, and with which credentials; required by default if such a behavior is
  /// listed.
  public var authentication: AuthenticationRequirement {
    get { self[Authentication.self] }
    set { self[Authentication.self] = newValue }
  }
}
