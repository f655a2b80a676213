import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport

extension OAuth1Verifier.Received {
  /// A request as a service would receive it from the transport.
  init(_ request: NetworkRequest) {
    let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
    let path = parts?.percentEncodedPath ?? ""
    let query = (parts?.percentEncodedQuery).map { "?" + $0 } ?? ""
    let host = (parts?.encodedHost ?? "") + (request.url.port.map { ":\($0)" } ?? "")
    self.init(
      scheme: request.url.scheme ?? "", method: request.method.rawValue, target: (path.isEmpty ? "/" : path) + query,
      fields: [("Host", host)] + request.headers.map { ($0.name, $0.value) },
      body: Array(request.body?.data ?? Data()))
  }

  /// The request as the loopback server received it.
  init(_ request: LoopbackRequest) {
    self.init(
      method: request.method.rawValue, target: request.target, fields: request.headers.map { ($0.name, $0.value) },
      body: Array(request.body))
  }

  /// A protocol parameter of the `Authorization` field.
  subscript(name: String) -> String? {
    let header = fields.first { $0.name == "Authorization" }?.value ?? ""
    return header.components(separatedBy: name + "=\"").dropFirst().first?.components(separatedBy: "\"").first
  }
}

extension OAuth1Session {
  /// A session of a user who is signed in to a service that the verifier plays.
  static func sample(
    _ signatureMethod: OAuth1SignatureMethod = .hmacSHA1, options: OAuth1Options = OAuth1Options(),
    origins: OriginScope = .baseURL, trustsClockOverHTTP: Bool = false
  ) -> OAuth1Session {
    OAuth1Session(
      consumer: OAuth1Consumer(key: "ck", secret: "cs-canary"),
      credentials: OAuth1Credentials(token: "tk", secret: "ts-canary"), signatureMethod: signatureMethod,
      options: options, origins: origins, trustsClockOverHTTP: trustsClockOverHTTP)
  }
}

extension OAuth1Verifier {
  /// The service in which the sample session's user has an account.
  static func sample(now: Date) -> OAuth1Verifier {
    OAuth1Verifier(
      consumers: ["ck": "cs-canary"], tokens: ["tk": "ts-canary"], now: Int(now.timeIntervalSince1970))
  }
}
