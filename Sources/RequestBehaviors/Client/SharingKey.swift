public import Foundation

/// What two requests have in common that may share one response.
///
/// Made by ``Next/sharingKey(for:named:ignoring:)``.
public struct SharingKey: Hashable, Sendable {
  /// The behaviors further in and the client that they are of.
  private let list: ObjectIdentifier
  /// Whose response it is.
  public let scopes: [String]
  private let credentials: [String?]
  private let content: Content

  private enum Content: Hashable, Sendable {
    case named(String)
    case request(
      method: String, url: String, fields: [String], options: [ObjectIdentifier: SettingIdentity], body: Data?,
      depth: Int)
  }

  /// Hashes what mostly tells requests apart, which costs less than hashing everything that must be equal.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(list)
    hasher.combine(scopes)
    switch content {
    case .named(let name): hasher.combine(name)
    case .request(let method, let url, _, _, let body, _):
      hasher.combine(method)
      hasher.combine(url)
      hasher.combine(body)
    }
  }

  /// The URL without its fragment, scheme and host in lower case, without the default port; `nil` under a name.
  public var url: String? {
    if case .request(_, let url, _, _, _, _) = content { url } else { nil }
  }

  /// The fields that differ from request to request and leave the response as it is, in lower case.
  public static let defaultIgnoredFields: Set<String> = [
    "traceparent", "tracestate", "baggage", "x-request-id", "request-id", "x-correlation-id",
  ]

  fileprivate init?(
    _ request: NetworkRequest, name: String?, ignoring ignored: Set<String>, in chain: Chain, at index: Int
  ) {
    // What the transport adds, such as a cookie, is another one's tomorrow, and no key has it.
    guard !chain.transport.addsCredentials(to: request) else { return nil }
    list = ObjectIdentifier(chain.base ?? chain)
    scopes = request.call.scopes
    credentials = [
      request.credentialDigest(salt: SharingKey.salt),
      chain.credentialDigest(for: request, below: index, salt: SharingKey.salt),
    ]
    if let name {
      content = .named(name)
      return
    }
    guard let depth = chain.sharedDepth(below: index) else { return nil }
    let body: Data?
    switch request.body?.content {
    case nil: body = nil
    case .data(let data): body = data
    case .file, .stream, .oneShot: return nil
    }
    let fields = request.headers.filter { !$0.isSecret && !ignored.contains($0.name.lowercased()) }
    content = .request(
      method: request.method.rawValue, url: request.url.normalizedText,
      fields: fields.map { "\($0.name.lowercased()):\($0.value)" }.sorted(), options: request.options.identity,
      body: body, depth: depth)
  }

  /// The same in no two runs of a program.
  private static let salt = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
}

extension SharingKey: CustomStringConvertible, CustomReflectable {
  /// The URL without secrets; nothing of fields and body.
  public var description: String {
    let shown = url.flatMap { URL(string: $0) }.map { Redactor.standard.redact($0) }
    return "SharingKey(\(shown ?? "named"), scopes: \(scopes.count))"
  }

  /// A mirror with the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Next {
  /// Returns what a request must have in common with another one to share its response.
  ///
  /// That is the list of behaviors further in, the scopes, method and URL, every field but those that are ignored, the
  /// request's options that affect a response (``RequestOption/affectsResponse``), and its body. Sensitive fields take
  /// part as a salted digest. A secret that is added further in is in no key: ask ``knowsOwner(of:)`` before a response
  /// is shared.
  ///
  /// - Parameters:
  ///   - request: The request as it is here.
  ///   - name: A name that the user gave instead: only client, scopes and sensitive fields must be the same besides.
  ///   - ignored: The fields that do not matter, in lower case.
  /// - Returns: The key; `nil` if the transport adds a credential of its own (``Transport/addsCredentials(to:)``).
  ///   `nil` too, without a name, for a request whose body is not in memory, or that brings or leaves out behaviors
  ///   further in: nobody knows whether these are the same.
  public func sharingKey(
    for request: NetworkRequest, named name: String? = nil,
    ignoring ignored: Set<String> = SharingKey.defaultIgnoredFields
  ) -> SharingKey? {
    SharingKey(request, name: name, ignoring: ignored, in: run.chain, at: index)
  }

  /// Whether a behavior further in checks that the response to a request comes from the server.
  public func verifies(_ request: NetworkRequest) -> Bool {
    run.chain.pipeline.entries[(index + 1)...].contains { $0.behavior.verifies(request) }
  }
}

extension Next {
  /// Returns a digest of what the behaviors further in will add to a request, as far as they tell: see
  /// ``CredentialBehavior/credentialDigest(salt:)``.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - salt: The key of the digest.
  /// - Returns: The digest; `nil` if no behavior gives one.
  public func credentialDigest(for request: NetworkRequest, salt: Data) -> String? {
    run.chain.credentialDigest(for: request, below: index, salt: salt)
  }
}

extension Chain {
  fileprivate func credentialDigest(for request: NetworkRequest, below index: Int, salt: Data) -> String? {
    let digests = pipeline.entries[(index + 1)...].compactMap { entry -> String? in
      guard let credential = entry.credential, credential.applies(to: request) else { return nil }
      return credential.credentialDigest(salt: salt)
    }
    return digests.isEmpty ? nil : digests.joined(separator: "\n")
  }

  /// How many behaviors are further in than an index, if they are those that every request of the client has.
  fileprivate func sharedDepth(below index: Int) -> Int? {
    let inner = pipeline.entries[(index + 1)...]
    guard let base else { return inner.count }
    guard inner.allSatisfy({ $0.source != .request }) else { return nil }
    let own = pipeline.entries[index]
    let place = base.pipeline.entries.lastIndex { other in
      type(of: other.behavior) == type(of: own.behavior) && other.order == own.order && other.name == own.name
    }
    guard let place, base.pipeline.entries.count - place - 1 == inner.count else { return nil }
    return inner.count
  }
}

extension NetworkRequest {
  /// Returns a digest of the credentials that the request carries in fields: the same for the same, and no secret.
  ///
  /// It is the HMAC-SHA256 (RFC 2104) of the fields that are marked sensitive or mean a credential.
  ///
  /// - Parameter salt: The key of the digest, so that nobody can try which credentials give it.
  /// - Returns: The digest in hexadecimal digits; `nil` without such fields.
  public func credentialDigest(salt: Data) -> String? {
    let secrets = headers.filter(\.isSecret)
    guard !secrets.isEmpty else { return nil }
    let text = secrets.map { "\($0.name.lowercased()):\($0.value)\n" }.sorted().joined()
    return CredentialDigest.make(of: text, salt: salt)
  }
}
