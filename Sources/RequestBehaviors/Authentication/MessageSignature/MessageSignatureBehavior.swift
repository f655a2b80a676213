/// Signs requests as HTTP messages (RFC 9421).
///
/// ```swift
/// let signature = MessageSignature(
///   keyID: "client-1", hmacSHA256: secret,
///   covering: ["@method", "@target-uri", "content-digest"])
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.messageSignature(signature)])
/// ```
///
/// Every send is signed, inside all behaviors that change the request. A retry, a redirect and a replay each have a
/// time, and a nonce if there is one, of their own. Only requests to its origins are signed.
///
/// The key has no user, so responses are neither stored nor shared. If they may be, because the key is the app's and
/// everyone gets the same response, give the behavior an ``owner``.
public struct MessageSignatureBehavior: UniqueBehavior, CredentialBehavior {
  /// After all that changes URL, method or body, and after the signer of OAuth 1.0a, which may do that and send again.
  public let order = BehaviorOrder.inside(.signing)
  /// The label of the signature, so that a list may have several.
  public var name: String { signature.label }
  /// The label of the signature, by which ``AuthenticationRequirement/only(_:)`` asks for it.
  public var credential: String { signature.label }
  /// The servers whose requests are signed.
  public let origins: OriginScope
  /// The name of the owner of responses; `nil` if it is unknown.
  public let owner: String?
  private let signature: MessageSignature
  private let makeNonce: @Sendable () -> String

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - signature: The rules of the signature.
  ///   - origins: The servers whose requests are signed; by default the base URL's.
  ///   - owner: The name of the owner of responses, such as the app's or the user's id; by default it is unknown.
  ///   - makeNonce: Makes the nonces; by default 128 random bits.
  public init(
    _ signature: MessageSignature, origins: OriginScope = .baseURL, owner: String? = nil,
    makeNonce: (@Sendable () -> String)? = nil
  ) {
    self.signature = signature
    self.origins = origins
    self.owner = owner
    self.makeNonce = makeNonce ?? { Nonce.make() }
  }

  /// Signs the request with the time of the call's clock.
  public func modify(_ request: inout NetworkRequest) async throws {
    guard applies(to: request) else { return }
    request = try await signature.signed(
      request, created: request.call.clock.date(), nonce: signature.includesNonce ? makeNonce() : nil)
    guard let value = request.headers["Signature"] else { return }
    // A reader of the signature can repeat the request until it expires.
    request.headers.set("Signature", value, sensitive: origins)
  }

  /// Returns the ``owner``.
  public func scope(for request: NetworkRequest) -> String? {
    applies(to: request) ? owner.map { "\(signature.label):\($0)" } : nil
  }
}

extension RequestBehavior where Self == MessageSignatureBehavior {
  /// Signs requests as HTTP messages; see ``MessageSignatureBehavior``.
  ///
  /// - Parameters:
  ///   - signature: The rules of the signature.
  ///   - origins: The servers whose requests are signed; by default the base URL's.
  ///   - owner: The name of the owner of responses, such as the app's or the user's id; by default it is unknown.
  /// - Returns: The behavior.
  public static func messageSignature(
    _ signature: MessageSignature, origins: OriginScope = .baseURL, owner: String? = nil
  ) -> MessageSignatureBehavior {
    MessageSignatureBehavior(signature, origins: origins, owner: owner)
  }
}
