public import Foundation

/// Authenticates with a user name and password (RFC 7617).
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [.basicAuth(user: "build", password: secret)])
/// ```
///
/// Both are sent in UTF-8. A colon in the user name, and a control character in either, is an error of code
/// ``NetworkError/Code-swift.struct/invalidRequest`` when a request is sent. The field is sensitive: it is hidden in
/// logs and errors, and goes to its origins only.
public struct BasicAuthBehavior: UniqueBehavior, CredentialBehavior {
  /// Among authentication.
  public let order = BehaviorOrder.authentication
  /// The name by which ``AuthenticationRequirement/only(_:)`` asks for the password: `basic`.
  public let credential = "basic"
  /// The servers that user and password may be sent to.
  public let origins: OriginScope
  /// `Authorization`.
  public var credentialField: String? { "Authorization" }
  private let user: String
  private let value: Result<String, NetworkError>

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - user: The user name; it has no colon (RFC 7617 §2).
  ///   - password: The password.
  ///   - origins: The servers they may be sent to; by default the base URL's.
  public init(user: String, password: String, origins: OriginScope = .baseURL) {
    self.user = user
    self.origins = origins
    self.value = Result { () throws(NetworkError) in try BasicAuthBehavior.credentials(user, password) }
  }

  /// Sets the `Authorization` field, also over one that the request has.
  public func modify(_ request: inout NetworkRequest) async throws {
    guard applies(to: request) else { return }
    request.headers.set("Authorization", try value.get(), sensitive: origins)
  }

  /// The responses are this user's.
  public func scope(for request: NetworkRequest) -> String? { applies(to: request) ? "basic:\(user)" : nil }

  /// Returns a digest of user and password, so that a wrong password does not get the stored responses of the right
  /// one.
  public func credentialDigest(salt: Data) -> String? {
    (try? value.get()).map { CredentialDigest.make(of: $0, salt: salt) }
  }

  /// Returns the field's value, as RFC 7617 §2 builds it.
  private static func credentials(_ user: String, _ password: String) throws(NetworkError) -> String {
    guard !user.utf8.contains(UInt8(ascii: ":")) else {
      throw NetworkError(
        .invalidRequest,
        "the user name for basic authentication has a colon, where the password would begin (RFC 7617 §2)")
    }
    guard !user.utf8.contains(where: \.isASCIIControl), !password.utf8.contains(where: \.isASCIIControl) else {
      throw NetworkError(
        .invalidRequest, "the user name or password for basic authentication has a control character (RFC 7617 §2)")
    }
    return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }
}

extension BasicAuthBehavior: CustomReflectable, CustomStringConvertible {
  /// The name of the type; neither user nor password.
  public var description: String { "BasicAuthBehavior" }

  /// A mirror without children: dumping a behavior must not show a password.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension RequestBehavior where Self == BasicAuthBehavior {
  /// Authenticates with a user name and password; see ``BasicAuthBehavior``.
  public static func basicAuth(
    user: String, password: String, origins: OriginScope = .baseURL
  ) -> BasicAuthBehavior {
    BasicAuthBehavior(user: user, password: password, origins: origins)
  }
}
