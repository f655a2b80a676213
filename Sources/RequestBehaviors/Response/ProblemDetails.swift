import Foundation

/// The problem that a server describes in a body of type `application/problem+json` (RFC 9457 §3.1).
///
/// ```swift
/// do {
///   try await client.send(.get("me"))
/// } catch let error as NetworkError {
///   show(error.problem?.title ?? "The server could not do that.")
/// }
/// ```
///
/// Title and detail are part of the error's message, with likely secrets hidden. ``NetworkError/decode(_:)`` reads
/// members that an API adds.
public struct ProblemDetails: Sendable, Hashable {
  /// The kind of problem, a URI reference; `about:blank`, which adds nothing to the status, if it is missing.
  public var type: String
  /// A short summary of the kind of problem, for people.
  public var title: String?
  /// The status that the server itself chose; an intermediary may have changed that of the response.
  public var status: Int?
  /// An explanation of this occurrence, for people.
  public var detail: String?
  /// A URI reference of this occurrence.
  public var instance: String?

  /// Creates the problem that a response describes.
  ///
  /// A member of the wrong type is ignored (RFC 9457 §3.1). The result is `nil` if the body has another media type, is
  /// not a JSON object or is longer than 64 KiB, or if the response is not verified.
  /// - Parameter response: A response with a body in memory.
  public init?(_ response: NetworkResponse) {
    guard response.isVerified, let type = response.headers[.contentType].flatMap(MediaType.init),
      type.type == "application", type.subtype == "problem+json"
    else { return nil }
    guard case .data(let data) = response.body, data.count <= Redactor.searchedBodyLimit,
      let members = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return nil }
    self.type = members["type"] as? String ?? "about:blank"
    title = members["title"] as? String
    status = (members["status"] as? NSNumber)?.intValue
    detail = members["detail"] as? String
    instance = members["instance"] as? String
    summary = ServerMessage.shown([title, detail].compactMap { $0 }, of: response)
  }

  /// Title and detail, redacted for display, each on one line and cut after 256 characters.
  let summary: String?
}

extension NetworkError {
  /// The problem that the server describes in `application/problem+json`; `nil` if there is no such body.
  public var problem: ProblemDetails? { response.flatMap(ProblemDetails.init) }

  /// The identifier of the request in the server's logs; `nil` if the response has no such field.
  ///
  /// It is the value of the first of these response fields: `X-Request-ID`, `Request-ID`, `X-Amzn-RequestId`,
  /// `X-GitHub-Request-Id`, `X-MS-Request-Id`, `X-Correlation-ID`.
  public var serverRequestID: String? {
    guard let response, response.isVerified else { return nil }
    return Self.requestIDFields.lazy.compactMap { response.headers[$0] }.first { !$0.isEmpty }
  }

  private static let requestIDFields = [
    "X-Request-ID", "Request-ID", "X-Amzn-RequestId", "X-GitHub-Request-Id", "X-MS-Request-Id", "X-Correlation-ID",
  ]
}
