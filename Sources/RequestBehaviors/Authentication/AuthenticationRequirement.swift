/// Whether a request is authenticated, and by whom.
///
/// ```swift
/// try await client.send(.post("login", body: .json(form)).with(\.authentication, .none))
/// try await client.send(.get("feed").with(\.authentication, .optional))
/// try await client.send(.get("catalog").with(\.authentication, .only("app")))
/// ```
public struct AuthenticationRequirement: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case required, optional, none
    case only(String)
  }

  let kind: Kind

  /// The request is not sent without credentials: it fails if there are none, the default.
  public static let required = AuthenticationRequirement(kind: .required)

  /// The request is sent without credentials if none can be had.
  public static let optional = AuthenticationRequirement(kind: .optional)

  /// The request carries no credentials of a behavior's, and its 401 is left alone.
  public static let none = AuthenticationRequirement(kind: .none)

  /// The request is authenticated by the session of a name only; other sessions and passwords pass it by.
  ///
  /// - Parameter name: The ``TokenSession/name`` of a session of the client; that it has none of the name is an error.
  /// - Returns: The requirement.
  public static func only(_ name: String) -> AuthenticationRequirement { AuthenticationRequirement(kind: .only(name)) }

  /// Whether the credentials of a name are wanted at all.
  func includes(_ name: String?) -> Bool {
    switch kind {
    case .required, .optional: true
    case .none: false
    case .only(let wanted): wanted == name
    }
  }

  /// The name of the session that alone authenticates the request; `nil` if others may.
  var onlyName: String? { if case .only(let name) = kind { name } else { nil } }

  var isOptional: Bool { kind == .optional }
}

private enum Authentication: RequestOption {
  static let defaultValue = AuthenticationRequirement.required
  // A request that wants no credentials wants none after a redirect either.
  static let isPortable = true
}

extension RequestOptions {
  /// Whether the request is authenticated, and by whom; required by default where a behavior is listed for it.
  public var authentication: AuthenticationRequirement {
    get { self[Authentication.self] }
    set { self[Authentication.self] = newValue }
  }
}
