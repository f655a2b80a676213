import Foundation
import RequestBehaviors

/// The key of a stored response: the URL, its owners, and for QUERY the content of the request.
///
/// GET and HEAD share a key. ``CacheVariant`` compares the fields that `Vary` names.
public struct CacheKey: Sendable, Hashable, Codable {
  /// The full URL without its fragment, scheme and host in lower case, without the default port.
  public let url: String

  /// The owners of the response: the scopes of the call, from `RequestBehavior.scope(for:)`.
  public let scopes: [String]

  /// Everything else that separates responses: digests of the secrets in the request's fields and of the content of a
  /// QUERY, and the fields of the environment.
  ///
  /// It holds no secret.
  public let discriminator: String

  /// Creates a key, for a store that reads it back.
  public init(url: String, scopes: [String], discriminator: String) {
    self.url = url
    self.scopes = scopes
    self.discriminator = discriminator
  }

  /// Creates the key of a request; `nil` for a QUERY whose content is not in memory.
  ///
  /// - Parameters:
  ///   - request: The request as it arrives at the cache.
  ///   - place: The place of the cache in the list.
  ///   - digestKey: The store's key for digests.
  init?(_ request: NetworkRequest, at place: Next, digestKey: Data) {
    var parts: [String] = []
    // Responses of different environments and credentials are kept apart. Secrets count as digests: a key may be
    // written to a file.
    if let environment = request.options.environment, !environment.headers.isEmpty {
      let fields = environment.headers.filter { !$0.isSecret }
      parts += fields.map { "\($0.name.lowercased()): \($0.value)" }
    }
    let secrets = request.headers.filter(\.isSecret)
    if !secrets.isEmpty {
      let text = secrets.map { "\($0.name.lowercased()): \($0.value)" }.sorted().joined(separator: "\n")
      parts.append(CacheKey.digest(Data(text.utf8), digestKey))
    }
    if let digest = place.credentialDigest(for: request, salt: digestKey) { parts.append(digest) }
    // The response to a QUERY depends on its content as that to a GET depends on its URL.
    if request.method == .query {
      guard let content = CacheKey.content(of: request) else { return nil }
      parts.append("QUERY " + CacheKey.digest(content, digestKey))
    }
    self.init(
      url: CacheKey.text(of: request.url), scopes: request.call.scopes, discriminator: parts.joined(separator: "\n"))
  }

  /// The normal form of a URL, which is the same for all spellings that are equivalent to a server.
  static func text(of url: URL) -> String { url.normalizedText }

  /// The content of a QUERY with its type, encoding and language (RFC 10008); `nil` if the content is not in memory.
  private static func content(of request: NetworkRequest) -> Data? {
    guard let body = request.body else { return Data() }
    guard let data = body.data else { return nil }
    let fields = ["Content-Type", "Content-Encoding", "Content-Language"].map { request.headers[$0] ?? "" }
    return Data((fields.joined(separator: "\n") + "\n\n").utf8) + data
  }

  private static func digest(_ data: Data, _ key: Data) -> String {
    let code = MessageAuthenticator(.sha256, key: Array(key)).code(for: Array(data))
    return Array(code.prefix(16)).hexadecimal
  }
}
