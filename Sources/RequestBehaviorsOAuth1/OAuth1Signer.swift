import Foundation
import RequestBehaviors

/// Signs requests with one set of credentials.
struct OAuth1Signer: Sendable {
  let consumer: OAuth1Consumer
  let credentials: OAuth1Credentials
  let key: OAuth1SigningKey
  let options: OAuth1Options

  init(
    consumer: OAuth1Consumer, credentials: OAuth1Credentials, method: OAuth1SignatureMethod, options: OAuth1Options
  ) {
    self.consumer = consumer
    self.credentials = credentials
    self.key = OAuth1SigningKey(method: method, consumer: consumer, credentials: credentials)
    self.options = options
  }

  /// Signs a request for its origin, and removes an earlier signature.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - nonce: A text that no other request of the timestamp has.
  ///   - timestamp: Seconds since 1970.
  ///   - bodyHash: The hash of a body that is a file; see ``fileHash(of:)``.
  ///   - additional: Further protocol parameters.
  /// - Throws: `NetworkError` if the request cannot be signed.
  func sign(
    _ request: inout NetworkRequest, nonce: String, timestamp: Int, bodyHash: String? = nil,
    additional: [(name: String, value: String)] = []
  ) throws {
    // The earlier signature goes first, because a query with it would be signed too.
    request.url = OAuth1Signature.removingDotSegments(from: request.url)
    removeOldSignature(&request, additional: additional)
    setContentType(&request)
    var parameters = OAuth1ProtocolParameters(
      consumerKey: consumer.key, token: credentials.token, nonce: nonce, timestamp: timestamp)
    parameters.bodyHash = bodyHash
    parameters.additional = additional
    try place(try signature(of: request, parameters), in: &request)
  }

  /// Returns the value of `oauth_body_hash` for a body that is a file; `nil` for other bodies, and if no hash is sent.
  ///
  /// - Throws: `NetworkError` if the file cannot be read, `CancellationError` if the task is cancelled.
  func fileHash(of request: NetworkRequest) async throws -> String? {
    guard sendsBodyHash(of: request), case .file(let file) = request.body?.content else { return nil }
    switch key.method.hashFunction {
    case .sha1: return try await Digest.sha1(ofFile: file).base64
    case .sha256: return try await Digest.sha256(ofFile: file).base64
    }
  }

  private func sendsBodyHash(of request: NetworkRequest) -> Bool {
    guard options.includesBodyHash, !key.method.isPlaintext, options.location != .formBody else { return false }
    let type = request.headers[.contentType] ?? request.body?.contentType
    return !OAuth1Signature.isForm(contentType: type)
  }

  private func signature(of request: NetworkRequest, _ parameters: OAuth1ProtocolParameters) throws -> OAuth1Signature {
    try OAuth1Signature(
      method: request.method, url: request.url, headers: request.headers, body: try signedOctets(of: request),
      parameters: parameters, key: key, options: options)
  }

  /// Returns the octets of a body that are part of the signature; other bodies are not read.
  private func signedOctets(of request: NetworkRequest) throws -> Data? {
    guard let body = request.body else { return nil }
    if let data = body.data { return data }
    if OAuth1Signature.isForm(contentType: request.headers[.contentType]) || options.location == .formBody {
      throw NetworkError(
        .invalidRequest,
        "the body of \(request) is a stream or a file, but OAuth 1.0a signs its content; give it as form or data")
    }
    // A file has been hashed already.
    if case .file = body.content { return nil }
    guard sendsBodyHash(of: request) else { return nil }
    throw NetworkError(
      .invalidRequest,
      "the body of \(request) is a stream or a part of a file, but the OAuth 1.0a options send its hash; give it "
        + "as data or a file")
  }

  /// Sets the type of a body that has none to bytes (RFC 9110 §8.3).
  ///
  /// Otherwise URLSession may call it a form, and the service would verify a signature over it that this side did not
  /// make.
  private func setContentType(_ request: inout NetworkRequest) {
    guard !request.headers.contains("Content-Type") else { return }
    if options.location == .formBody, request.body?.length ?? 0 == 0 {
      request.headers[.contentType] = "application/x-www-form-urlencoded"
    } else if request.body != nil, request.body?.length != 0 {
      request.headers[.contentType] = request.body?.contentType ?? "application/octet-stream"
    }
  }

  /// Removes a signature that came with the request, or that a redirect repeats in its query.
  private func removeOldSignature(
    _ request: inout NetworkRequest, additional: [(name: String, value: String)]
  ) {
    request.headers.removeAll {
      HeaderFields.areEqual($0.name, "Authorization") && $0.value.lowercased().hasPrefix("oauth ")
    }
    // Only with this option would the new parameters join old ones in the query.
    guard options.location == .query, let query = request.url.query(percentEncoded: true) else { return }
    let own = OAuth1ProtocolParameters.protocolNames.union(["oauth_body_hash"]).union(additional.map(\.name))
    let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { pair in
      !pair.hasPrefix("oauth_") || !own.contains(String(pair.prefix { $0 != "=" }))
    }
    guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true) else { return }
    parts.percentEncodedQuery = kept.isEmpty ? nil : kept.joined(separator: "&")
    request.url = parts.url ?? request.url
  }

  /// The place of the parameters, which is the field for a request without a body to which a redirect has led.
  ///
  /// The server has done what was asked with the first request, so that an error would hide that.
  private func location(of request: NetworkRequest) -> OAuth1ParameterLocation {
    let isHop = request.method.forbidsBody && request.call.attemptCount > 0
    return options.location == .formBody && isHop ? .authorizationHeader : options.location
  }

  private func place(_ signature: OAuth1Signature, in request: inout NetworkRequest) throws {
    switch location(of: request) {
    case .authorizationHeader:
      let scope = request.origin.map { OriginScope.only([$0]) } ?? .baseURL
      request.headers.set("Authorization", signature.authorizationHeader, sensitive: scope)
    case .formBody:
      if request.method.forbidsBody {
        throw NetworkError(
          .invalidRequest,
          "\(request.method) has no body to send the OAuth 1.0a parameters in; send them in the Authorization header")
      }
      request.body = .data(signature.signedFormBody, contentType: request.headers[.contentType])
    case .query:
      request.url = signature.signedURL ?? request.url
    }
  }
}
