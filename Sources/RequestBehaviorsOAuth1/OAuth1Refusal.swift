import Foundation
import RequestBehaviors

/// The reason that a response gives for refusing a request.
///
/// With the OAuth Problem Reporting extension the service sends `oauth_problem` and its details in the body or in the
/// `WWW-Authenticate` field. Other services send a challenge only (RFC 9110 §11.6.1).
struct OAuth1Refusal: Sendable {
  /// The value of `oauth_problem`; `nil` if the response has none.
  let problem: String?
  /// The details of the problem, by name: the response's fields of the extension.
  private let fields: [(name: String, value: String)]
  private let challenges: [AuthenticationScheme]
  private let statusCode: Int
  /// The challenges and the beginning of the body, to search for the words of the extension.
  private let text: String
  private let redactor: Redactor

  init(_ response: NetworkResponse) {
    var body = Data()
    if case .data(let data) = response.body { body = data.prefix(4_096) }
    self.init(
      statusCode: response.statusCode, challenges: response.headers.values(for: "WWW-Authenticate"), body: body,
      redactor: Redactor.standard.hiding(secretsOf: response.request))
  }

  /// Reads the parts of a response that can name a problem.
  ///
  /// - Parameters:
  ///   - statusCode: The response's status.
  ///   - challenges: The values of its `WWW-Authenticate` fields.
  ///   - body: The beginning of its body.
  ///   - redactor: Hides the secrets of the ``reason``.
  init(statusCode: Int, challenges: [String], body: Data, redactor: Redactor = .standard) {
    self.statusCode = statusCode
    self.redactor = redactor
    self.challenges = challenges.flatMap(AuthenticationScheme.list)
    // Some services write each field on a line of its own.
    let lines = body.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    fields = lines.flatMap { OAuth1TokenResponse($0).fields } + self.challenges.flatMap(\.parameters)
    problem = fields.first { $0.name == "oauth_problem" && !$0.value.isEmpty }?.value
    text = challenges.joined(separator: "\n") + "\n" + String(decoding: body, as: UTF8.self)
  }

  /// The meaning of a response for the timestamp of its request.
  enum TimestampVerdict {
    /// The response says that the timestamp is refused.
    case refused
    /// The response is a 401 that does not say why.
    case suspected
  }

  /// Whether the timestamp is, or may be, the reason of the refusal; `nil` if it is not.
  var timestampVerdict: TimestampVerdict? {
    guard statusCode == 401 || statusCode == 400 else { return nil }
    if let problem { return problem == "timestamp_refused" ? .refused : nil }
    if text.contains("timestamp_refused") { return .refused }
    if statusCode != 401 || OAuth1Refusal.otherProblems.contains(where: text.contains) { return nil }
    return .suspected
  }

  /// The other problems of the extension, for services that send the words in a form of their own.
  private static let otherProblems = [
    "version_rejected", "parameter_absent", "parameter_rejected", "nonce_used", "signature_method_rejected",
    "signature_invalid", "consumer_key_unknown", "consumer_key_rejected", "consumer_key_refused", "token_used",
    "token_expired", "token_revoked", "token_rejected", "additional_authorization_required", "permission_unknown",
    "permission_denied", "user_refused",
  ]

  /// The range of timestamps that the service accepts; `nil` if the response has none.
  var acceptableTimestamps: String? { fields.first { $0.name == "oauth_acceptable_timestamps" }?.value }

  /// The problem with its details, without secrets; `nil` if the response names no problem.
  var reason: String? {
    guard let problem else { return nil }
    let details = fields.filter { OAuth1Refusal.details.contains($0.name) }
    return (["oauth_problem=\(shown(problem))"] + details.map { "\($0.name)=\(shown($0.value))" })
      .joined(separator: ", ")
  }

  private static let details: Set = [
    "oauth_problem_advice", "oauth_parameters_absent", "oauth_acceptable_timestamps", "oauth_acceptable_versions",
  ]

  private func shown(_ value: String) -> String { redactor.redact(line: value) }
}
