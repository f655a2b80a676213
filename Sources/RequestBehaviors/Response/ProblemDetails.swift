import Foundation

/// What a server tells of a failure in a body of type `application/problem+json` (RFC 9457 §3.1).
///
/// ```swift
/// do {
///   try await client.send(.get("me"))
/// } catch let error as NetworkError {
///   show(error.problem?.title ?? "The server could not do that.")
/// }
/// ```
///
/// Title and detail are part of the error's message, with what looks like a secret hidden. Members of an API's own are
/// read with ``NetworkError/decode(_:)``.
public struct ProblemDetails: Sendable, Hashable {
  /// The kind of problem, a URI reference; `about:blank`, which says no more than the status, where it is missing.
  public var type: String
  /// A short summary of the kind of problem, for people.
  public var title: String?
  /// The status that the server itself chose; what stands between may have changed that of the response.
  public var status: Int?
  /// What is the matter this time, for people.
  public var detail: String?
  /// A URI reference of this occurrence.
  public var instance: String?

  /// Reads the problem that a response tells.
  ///
  /// A member of another type than it should be is left out, as RFC 9457 §3.1 has it. There is none if the body is of
  /// another media type, no JSON object or longer than 64 KiB, or if it is not known to come from the server.
  ///
  /// - Parameter response: A response with a body in memory.
  public init?(_ response: NetworkResponse) {
    guard response.isVerified, let type = response.headers["Content-Type"].flatMap(MediaType.init),
      type.type == "application", type.subtype == "problem+json"
    else { return nil }
    guard case .data(let data) = response.body, data.count <= 65_536,
      let members = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return nil }
    self.type = members["type"] as? String ?? "about:blank"
    title = members["title"] as? String
    status = (members["status"] as? NSNumber)?.intValue
    detail = members["detail"] as? String
    instance = members["instance"] as? String
    let redactor = Redactor.standard.hiding(secretsOf: response)
    let texts = [title, detail].compactMap { $0 }.filter { !$0.isEmpty }
    let shown = texts.map { redactor.redact(text: String($0.prefix(256))) }
    summary = shown.isEmpty ? nil : shown.joined(separator: ": ")
  }

  /// Title and detail as they may be shown, each cut after 256 characters.
  let summary: String?
}

extension NetworkError {
  /// What the server tells of the failure in `application/problem+json`; `nil` if it does not.
  public var problem: ProblemDetails? { response.flatMap(ProblemDetails.init) }

  /// The name under which the server has the request in its logs; `nil` if it told none.
  ///
  /// The value of the first of these response fields: `X-Request-ID`, `Request-ID`, `X-Amzn-RequestId`,
  /// `X-GitHub-Request-Id`, `X-MS-Request-Id`, `X-Correlation-ID`.
  public var serverRequestID: String? {
    guard let response, response.isVerified else { return nil }
    return Self.requestIDFields.lazy.compactMap { response.headers[$0] }.first { !$0.isEmpty }
  }

  private static let requestIDFields = [
    "X-Request-ID", "Request-ID", "X-Amzn-RequestId", "X-GitHub-Request-Id", "X-MS-Request-Id", "X-Correlation-ID",
  ]
}
