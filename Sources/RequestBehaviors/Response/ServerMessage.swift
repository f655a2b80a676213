import Foundation

/// The words with which a server explains a refusal, found where APIs put them.
///
/// Only ``ProblemDetails`` have a standard. The members that are read are those of the error objects of GitHub, Google,
/// Stripe, X, AWS, Elasticsearch, FastAPI, Django, Spring and OAuth 2 (RFC 6749 §5.2).
enum ServerMessage {
  /// The most characters of each text that are shown.
  private static let textLimit = 256

  /// Members that describe the failure, the most telling first.
  private static let descriptions = [
    "error_description", "message", "detail", "errors", "error", "reason", "msg", "description", "title",
  ]

  /// Returns the words for display, without secrets.
  ///
  /// - Parameter response: A response with a body in memory.
  /// - Returns: The words; `nil` if the response has no words that can be trusted or read.
  static func text(of response: NetworkResponse) -> String? {
    if let problem = ProblemDetails(response) { return problem.summary }
    guard response.isVerified, case .data(let data) = response.body, data.count <= Redactor.searchedBodyLimit,
      response.headers[.contentType].flatMap(MediaType.init)?.isJSON == true,
      let value = try? JSONSerialization.jsonObject(with: data)
    else { return nil }
    return shown(words(of: value, depth: 3), of: response)
  }

  /// Returns texts of a response for display: without secrets, each on one line and cut after 256 characters.
  ///
  /// - Parameters:
  ///   - texts: The texts; empty ones are left out.
  ///   - response: The response that they are from.
  /// - Returns: The texts, with a colon between them; `nil` if no text is left.
  static func shown(_ texts: [String], of response: NetworkResponse) -> String? {
    let texts = texts.compactMap(trimmed)
    guard !texts.isEmpty else { return nil }
    let redactor = Redactor.standard.hiding(secretsOf: response)
    return texts.map { redactor.redact(beginningOf: $0, limit: textLimit, onOneLine: true) }.joined(separator: ": ")
  }

  /// Returns the name of an error and its description, as far as a value has them.
  ///
  /// - Parameters:
  ///   - value: A value of JSON.
  ///   - depth: How many objects and lists within each other are searched.
  /// - Returns: The names, the outermost first, and the description.
  private static func words(of value: Any, depth: Int) -> [String] {
    if let text = value as? String { return [trimmed(text)].compactMap { $0 } }
    guard depth > 0 else { return [] }
    if let first = (value as? [Any])?.first { return words(of: first, depth: depth - 1) }
    guard let members = value as? [String: Any] else { return [] }
    let found = descriptions.lazy.compactMap { members[$0] }.map { words(of: $0, depth: depth - 1) }
    guard let description = found.first(where: { !$0.isEmpty }) else { return [] }
    // OAuth 2 and Spring have a name beside the description.
    guard let name = (members["error"] as? String).flatMap(trimmed), [name] != description else { return description }
    return [name] + description
  }

  /// Returns a text without white space around it; `nil` if nothing is left.
  private static func trimmed(_ text: String) -> String? {
    let rest = text.trimmingCharacters(in: .whitespacesAndNewlines)
    return rest.isEmpty ? nil : rest
  }
}

extension NetworkResponse {
  /// The server's own words about its refusal, for people and logs; `nil` if the response has none.
  ///
  /// They are title and detail of ``ProblemDetails``. In other JSON they are the text of the first of these members
  /// that has one: `error_description`, `message`, `detail`, `errors`, `error`, `reason`, `msg`, `description` and
  /// `title`. A text of `error` comes before it. Of an object or a list, the text within it is used. Other bodies have
  /// no words, because a server may repeat the request there, or send a token.
  ///
  /// A response that the request accepts has no words about a failure, even if it could not be decoded. The words of a
  /// response that is not verified are left out.
  ///
  /// Likely secrets are hidden, each text is cut after 256 characters, and a body of more than 64 KiB is not read.
  public var serverMessage: String? { isAcceptable ? nil : ServerMessage.text(of: self) }
}

extension NetworkError {
  /// The server's own words about the failure, as ``NetworkResponse/serverMessage`` has them; `nil` without a response.
  ///
  /// The ``message`` of a refusal has them too.
  public var serverMessage: String? { response?.serverMessage }
}
