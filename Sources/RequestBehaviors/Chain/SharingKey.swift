public import Foundation

/// The common part of two requests that may share one response.
///
/// It is made by ``Next/sharingKey(for:named:ignoring:)``.
public struct SharingKey: Hashable, Sendable {
  /// The identity of the client's list of behaviors.
  private let list: ObjectIdentifier
  /// The owners of the response.
  public let scopes: [String]
  /// The sign-ins that the request belongs to: the same account may have signed in again since another request.
  private let signIns: [ObjectIdentifier: Int]
  /// A digest of the request's own credentials.
  private let ownCredentials: String?
  /// A digest of the credentials that behaviors further in add.
  private let innerCredentials: String?
  private let content: Content

  private enum Content: Hashable, Sendable {
    case named(String)
    // One reference, because a key is copied into each place that it is kept in.
    indirect case request(
      method: String, url: String, fields: [String], options: RequestOptions.Identity, body: Data?,
      depth: Int)
  }

  /// Hashes the parts that usually differ, which costs less than hashing all parts that must be equal.
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

  /// The URL without its fragment and default port, with scheme and host in lower case; `nil` for a key with a name.
  public var url: String? {
    if case .request(_, let url, _, _, _, _) = content { url } else { nil }
  }

  /// The fields, in lower case, that differ from request to request and do not change the response.
  public static let defaultIgnoredFields: Set<String> = [
    "traceparent", "tracestate", "baggage", "x-request-id", "request-id", "x-correlation-id",
  ]

  fileprivate init?(
    _ request: NetworkRequest, name: String?, ignoring ignored: Set<String>, in chain: Chain, at index: Int
  ) {
    // A credential of the transport, such as a cookie, may be another user's later, and no key contains it.
    guard !chain.transport.addsCredentials(to: request) else { return nil }
    list = ObjectIdentifier(chain.base ?? chain)
    scopes = request.call.scopes
    signIns = request.call.tokenSignIns.merging(request.call[SignInNumbers.self]) { first, _ in first }
    ownCredentials = request.credentialDigest(salt: SharingKey.salt)
    innerCredentials = chain.credentialDigest(for: request, below: index, salt: SharingKey.salt)
    // A name replaces the content of the request, but never its owner or credentials.
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

  /// A key that differs in every run of the program.
  ///
  /// The system makes it, in a simulation too: it is secret, and serves all simulations of the process.
  private static let salt = RandomSource.bytes(32, isSecret: true)
}

extension SharingKey: CustomStringConvertible, CustomReflectable {
  /// The URL without secrets; no field and no body.
  public var description: String {
    let shown = url.flatMap { URL(string: $0) }.map { Redactor.standard.redact($0) }
    return "SharingKey(\(shown ?? "named"), scopes: \(scopes.count))"
  }

  /// A mirror with the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Next {
  /// Returns the part that a request must have in common with another one to share its response.
  ///
  /// These are the list of behaviors further in, the owners, method and URL, every field that is not ignored, the
  /// request's options that affect a response (``RequestOption/affectsResponse``), and its body. Sensitive fields are
  /// compared by a salted digest. A secret that is added further in is in no key, so ask ``knowsOwner(of:)`` before
  /// sharing a response.
  ///
  /// - Parameters:
  ///   - request: The request as it is here.
  ///   - name: A name to use instead; besides it only client, owners and sensitive fields must be the same.
  ///   - ignored: The fields that do not matter, in lower case.
  /// - Returns: The key; `nil` if the transport adds a credential of its own (``Transport/addsCredentials(to:)``).
  ///   Without a name it is also `nil` for a request whose body is not in memory, and for one that adds or removes
  ///   behaviors further in, because two such lists cannot be compared.
  public func sharingKey(
    for request: NetworkRequest, named name: String? = nil,
    ignoring ignored: Set<String> = SharingKey.defaultIgnoredFields
  ) -> SharingKey? {
    SharingKey(request, name: name, ignoring: ignored, in: run.chain, at: index)
  }

  /// Returns whether a behavior further in checks that the response to a request comes from the server.
  public func verifies(_ request: NetworkRequest) -> Bool {
    run.chain.pipeline.entries[(index + 1)...].contains { $0.behavior.verifies(request) }
  }
}

extension Next {
  /// Returns a digest of the credentials that the behaviors further in will add to a request, as far as they tell.
  ///
  /// See ``CredentialBehavior/credentialDigest(salt:)``.
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

  /// Returns the number of behaviors further in than an index; `nil` if they are not those of all requests of the
  /// client.
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
