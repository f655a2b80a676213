public import Foundation

/// The rules by which requests are signed as HTTP messages (RFC 9421).
///
/// ```swift
/// let signature = MessageSignature(
///   keyID: "client-1", hmacSHA256: secret,
///   covering: ["@method", "@target-uri", "content-digest"])
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.messageSignature(signature)])
/// ```
///
/// `hmac-sha256` is built in. Any other algorithm is a closure that signs bytes, for example with CryptoKit:
///
/// ```swift
/// let signature = MessageSignature(
///   keyID: "client-1", algorithm: "ed25519",
///   covering: ["@method", "@authority", "@path"]
/// ) { base in try key.signature(for: base) }
/// ```
public struct MessageSignature: Sendable {
  /// The parts of a request that are signed, in this order.
  public var components: [SignatureComponent]
  /// The name of the key, by which the server finds it.
  public var keyID: String
  /// The name of the algorithm to tell the server; `nil`, the default with HMAC, leaves it out.
  public var algorithm: String?
  /// The name of the signature within the two fields; `sig1` by default.
  public var label = "sig1"
  /// How long the server is to accept a signature; `nil`, the default, leaves it out.
  public var lifetime: Duration?
  /// Whether each signature has a random value, so that a server can refuse a repeated one; `false` by default.
  public var includesNonce = false
  /// The name of the application of the signature; `nil`, the default, leaves it out.
  public var tag: String?

  private let makeSignature: @Sendable (Data) async throws -> Data

  /// Creates a signature by HMAC-SHA256 (§3.3.3).
  ///
  /// - Parameters:
  ///   - keyID: The name of the key, by which the server finds it.
  ///   - key: The secret that both sides have.
  ///   - components: The parts of a request that are signed.
  public init(keyID: String, hmacSHA256 key: Data, covering components: [SignatureComponent]) {
    self.init(keyID: keyID, algorithm: nil, covering: components) { Digest.hmacSHA256(of: $0, key: key).bytes }
  }

  /// Creates a signature by an algorithm of your own.
  ///
  /// - Parameters:
  ///   - keyID: The name of the key, by which the server finds it.
  ///   - algorithm: The registered name of the algorithm, such as `ed25519`; `nil` to leave it out.
  ///   - components: The parts of a request that are signed.
  ///   - sign: Returns the signature of a signature base.
  public init(
    keyID: String, algorithm: String?, covering components: [SignatureComponent],
    sign: @escaping @Sendable (Data) async throws -> Data
  ) {
    self.keyID = keyID
    self.algorithm = algorithm
    self.components = components
    makeSignature = sign
  }

  /// Returns the request with the fields `Signature-Input` and `Signature`.
  ///
  /// Other signatures of the request are kept. If the components include the `content-digest` and the request has none,
  /// the field is added (RFC 9530).
  ///
  /// - Parameters:
  ///   - request: The request as it is sent.
  ///   - created: The time of the signature.
  ///   - nonce: The random value; `nil` for none.
  /// - Returns: The signed request.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidRequest`` if the request lacks a
  ///   component, or the error of the closure that signs.
  public func signed(_ request: NetworkRequest, created: Date, nonce: String? = nil) async throws -> NetworkRequest {
    var signed = request
    if components.contains(.contentDigest), !request.headers.contains("Content-Digest") {
      signed.headers["Content-Digest"] = "sha-256=:\(try await MessageSignature.hash(of: request).base64):"
    }
    let parameters = self.parameters(created: created, nonce: nonce)
    let base = try self.base(of: signed, parameters)
    let signature = try await makeSignature(Data(base.utf8)).base64EncodedString()
    signed.headers.addMember("Signature-Input", "\(label)=\(parameters)")
    signed.headers.addMember("Signature", "\(label)=:\(signature):")
    return signed
  }

  /// Returns the signature base: the text that is signed (§2.5).
  ///
  /// - Parameters:
  ///   - request: The request as it is sent, with its `Content-Digest` if that is covered.
  ///   - created: The time of the signature.
  ///   - nonce: The random value; `nil` for none.
  /// - Returns: A line for each component, and one for the parameters.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidRequest`` if the request lacks a
  ///   component.
  public func base(of request: NetworkRequest, created: Date, nonce: String? = nil) throws -> String {
    try base(of: request, parameters(created: created, nonce: nonce))
  }

  private func base(of request: NetworkRequest, _ parameters: String) throws -> String {
    guard Set(components).count == components.count else {
      throw NetworkError(.invalidRequest, "the signature is to cover a component twice (RFC 9421 §2)")
    }
    let lines = try components.map { component -> String in
      let value = try component.value(in: request)
      // A line break would make two lines of one, and so another text with the same signature.
      guard !value.contains(where: \.isNewline) else {
        throw NetworkError(.invalidRequest, "the signature is to cover \(component), whose value has a line break")
      }
      return "\(component): \(value)"
    }
    return (lines + ["\"@signature-params\": \(parameters)"]).joined(separator: "\n")
  }

  private func parameters(created: Date, nonce: String?) -> String {
    let time = created.timeIntervalSince1970.rounded(.down)
    var text = "(" + components.map(\.description).joined(separator: " ") + ");created=\(Self.integer(time))"
    if let lifetime { text += ";expires=\(Self.integer(time + lifetime.inSeconds.rounded(.towardZero)))" }
    if let nonce { text += ";nonce=\(StructuredText.quoted(nonce))" }
    if let algorithm { text += ";alg=\(StructuredText.quoted(algorithm))" }
    text += ";keyid=\(StructuredText.quoted(keyID))"
    if let tag { text += ";tag=\(StructuredText.quoted(tag))" }
    return text
  }

  /// Returns the nearest integer of a structured field, which has 15 digits at most (RFC 9651 §3.3.1).
  private static func integer(_ seconds: Double) -> Int {
    seconds.isNaN ? 0 : Int(min(max(seconds, -999_999_999_999_999), 999_999_999_999_999))
  }

  /// Returns the hash of the body; a request without a body has one of no bytes.
  private static func hash(of request: NetworkRequest) async throws -> Digest {
    switch request.body?.content {
    case nil: return .sha256(of: Data())
    case .data(let data): return .sha256(of: data)
    case .file(let file): return try await .sha256(ofFile: file)
    case .stream, .oneShot:
      throw NetworkError(
        .invalidRequest,
        "the signature is to cover content-digest, but the body is a stream or a part of a file; set the field "
          + "Content-Digest yourself, or send a file")
    }
  }
}

extension MessageSignature: CustomStringConvertible, CustomReflectable {
  /// The name of the key and the components.
  public var description: String { "MessageSignature(\(keyID), \(components))" }

  /// A mirror without children: dumping a signature must not show a key.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HeaderFields {
  /// Adds a member to a dictionary field (RFC 9651 §3.2), and replaces one of the same label.
  fileprivate mutating func addMember(_ name: String, _ member: String) {
    let label = member.prefix { $0 != "=" } + "="
    // A line may hold several members, as those that were added here do.
    let others = values(for: name).flatMap { FieldList.members(of: $0) }.filter { !$0.hasPrefix(label) }
    self[name] = (others + [member[...]]).joined(separator: ", ")
  }
}
