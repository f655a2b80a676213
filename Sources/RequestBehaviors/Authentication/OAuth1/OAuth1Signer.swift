import Foundation

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

  /// Signs a request for its origin, and leaves nothing of an earlier signature.
  func sign(
    _ request: inout NetworkRequest, nonce: String, timestamp: Int, additional: [(name: String, value: String)] = []
  ) throws {
    request.url = OAuth1Signature.removingDotSegments(from: request.url)
    removeOldSignature(&request)
    setContentType(&request)
    do {
      try place(try signature(of: request, nonce: nonce, timestamp: timestamp, additional: additional), in: &request)
    } catch var error as NetworkError {
      error.request = request
      throw error
    }
  }

  private func signature(
    of request: NetworkRequest, nonce: String, timestamp: Int, additional: [(name: String, value: String)]
  ) throws -> OAuth1Signature {
    var parameters = OAuth1Parameters(
      consumerKey: consumer.key, token: credentials.token, nonce: nonce, timestamp: timestamp)
    parameters.additional = additional
    return try OAuth1Signature(
      method: request.method, url: request.url, headers: request.headers, body: try signedOctets(of: request),
      parameters: parameters, key: key, options: options)
  }

  /// The octets of a body that are part of the signature; those of other bodies are not touched.
  private func signedOctets(of request: NetworkRequest) throws -> Data? {
    guard let body = request.body else { return nil }
    if let data = body.data { return data }
    let isNeeded =
      OAuth1Signature.isForm(contentType: request.headers["Content-Type"]) || options.location == .formBody
      || options.includesBodyHash && !key.method.isPlaintext
    guard isNeeded else { return nil }
    throw NetworkError.invalidRequest(
      "the body of \(request) is a stream or a file, but OAuth 1.0a signs its content; give it as form or data")
  }

  /// A body without a type is bytes (RFC 9110 §8.3); left alone, URLSession may call it a form, and the service would
  /// sign what this side did not.
  private func setContentType(_ request: inout NetworkRequest) {
    guard !request.headers.contains("Content-Type") else { return }
    if options.location == .formBody, request.body?.length ?? 0 == 0 {
      request.headers["Content-Type"] = "application/x-www-form-urlencoded"
    } else if request.body != nil, request.body?.length != 0 {
      request.headers["Content-Type"] = request.body?.contentType ?? "application/octet-stream"
    }
  }

  /// The request may have been signed by other means, and a redirect may echo the query that was signed.
  private func removeOldSignature(_ request: inout NetworkRequest) {
    request.headers.removeAll {
      HTTPHeaders.areEqual($0.name, "Authorization") && $0.value.lowercased().hasPrefix("oauth ")
    }
    guard options.location == .query, let query = request.url.query(percentEncoded: true) else { return }
    let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { !isOwn($0) }
    guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true) else { return }
    parts.percentEncodedQuery = kept.isEmpty ? nil : kept.joined(separator: "&")
    request.url = parts.url ?? request.url
  }

  private func isOwn(_ pair: Substring) -> Bool {
    guard pair.hasPrefix("oauth_") else { return false }
    let name = pair.prefix { $0 != "=" }.dropFirst("oauth_".count)
    return ["consumer_key", "token", "signature_method", "signature", "timestamp", "nonce", "version", "body_hash"]
      .contains(name)
  }

  private func place(_ signature: OAuth1Signature, in request: inout NetworkRequest) throws {
    switch options.location {
    case .authorizationHeader:
      let scope = request.origin.map { OriginScope.only([$0]) } ?? .baseURL
      request.headers.set("Authorization", signature.authorizationHeader, sensitive: scope)
    case .formBody:
      if request.method.forbidsBody {
        throw NetworkError.invalidRequest(
          "\(request.method) has no body to send the OAuth 1.0a parameters in; send them in the Authorization header")
      }
      request.body = .data(signature.signedFormBody, contentType: request.headers["Content-Type"])
    case .query:
      request.url = signature.signedURL ?? request.url
    }
  }
}
