public import Foundation

/// The error of a request: a code to switch on, and a message with a remedy.
///
/// ```swift
/// do {
///   let user: User = try await client.send(.get("users/\(login)"))
///   show(user.name)
/// } catch let error as NetworkError where error.statusCode == 422 {
///   show(try error.decode(Problem.self).title)
/// }
/// ```
///
/// The ``code-swift.property`` says at which stage the error arose. The request could not be built (`invalidURL`,
/// `invalidRequest`, `encodingFailed`). It could not be sent, or no response arrived (`cannotConnect`, `dnsFailed`,
/// `timedOut`, …). The response came from an intermediary (`intercepted`) or is a failure (`unacceptableStatus`). The
/// response could not be used (`decodingFailed`, `emptyBody`, `unexpectedContentType`). A cancelled call throws
/// `CancellationError` instead. Errors that a user's behavior throws reach the caller unchanged.
///
/// No description of an error shows a secret; the ``Redactor`` has processed the URLs and bodies in it.
public struct NetworkError: Error, Sendable {
  /// The kind of error; stable, and meant for `switch`.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let rawValue: String

    /// Creates a code; modules and users may add their own.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the code.
    public var description: String { rawValue }
  }

  // One reference, for two reasons. The compiler inlines the getters of plain stored properties into the user's module,
  // where Swift 6.3 fails with "Found ownership error" on `error.statusCode.map { … }`. And an error travels through
  // many frames.
  private var storage: Storage

  private struct Fields: Sendable {
    let code: Code
    let message: String
    var request: NetworkRequest?
    var response: NetworkResponse?
    var underlyingError: (any Error)?
    var availableAt: Date?
    var progress: Progress?
    var wantedType: String?
    var causeSecrets: [String] = []
  }

  private final class Storage: Sendable {
    let fields: Fields

    init(_ fields: Fields) { self.fields = fields }
  }

  /// The kind of error.
  public var code: Code { storage.fields.code }

  /// The text of the error: what happened, with the value and the rule, and the remedy.
  ///
  /// It may quote values that were given or received. The ``description`` shows it without the known secrets.
  public var message: String { storage.fields.message }

  /// The request at the time of the error; `nil` if there was no request yet.
  public var request: NetworkRequest? {
    get { storage.fields.request }
    set { change { $0.request = newValue } }
  }

  /// The response; `nil` if there was no response.
  public var response: NetworkResponse? {
    get { storage.fields.response }
    set { change { $0.response = newValue } }
  }

  /// The error that caused this one.
  public var underlyingError: (any Error)? {
    get { storage.fields.underlyingError }
    set { change { $0.underlyingError = newValue } }
  }

  /// The time from which a repeat may succeed, on the wall clock of the call; `nil` if it is unknown.
  ///
  /// A server sends it in fields such as `Retry-After` (see ``ServerHints``). A local refusal sets it too, such as that
  /// of an open circuit breaker or of a wait that would exceed the call's deadline.
  public var availableAt: Date? {
    get { storage.fields.availableAt }
    set { change { $0.availableAt = newValue } }
  }

  /// The progress of the failed attempt, as the transport reports it; `nil` if it is unknown.
  public var progress: Progress? {
    get { storage.fields.progress }
    set { change { $0.progress = newValue } }
  }

  /// The full name of the type that the body was to be decoded as; `nil` if it was not decoded.
  package internal(set) var wantedType: String? {
    get { storage.fields.wantedType }
    set { change { $0.wantedType = newValue } }
  }

  /// The values that the underlying error may quote and the call does not know, such as those of a request for a token.
  ///
  /// No description of this error shows them. Empty by default; a value of less than four bytes is not searched for.
  public var causeSecrets: [String] {
    get { storage.fields.causeSecrets }
    set { change { $0.causeSecrets = newValue } }
  }

  private mutating func change(_ change: (inout Fields) -> Void) {
    var fields = storage.fields
    change(&fields)
    storage = Storage(fields)
  }

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of error.
  ///   - message: What happened and the remedy, without secrets.
  ///   - request: The request at the time of the error.
  ///   - response: The response, if there was one.
  ///   - underlyingError: The error that caused this one.
  public init(
    _ code: Code, _ message: String, request: NetworkRequest? = nil, response: NetworkResponse? = nil,
    underlyingError: (any Error)? = nil
  ) {
    storage = Storage(
      Fields(
        code: code, message: message, request: request ?? response?.request, response: response,
        underlyingError: underlyingError))
  }

  /// The status of the response; `nil` if there was no response.
  public var statusCode: Int? { response?.statusCode }

  /// Every send of the call up to this error, in order.
  public var attempts: [Attempt] { request?.call.attempts ?? [] }

  /// Returns the body of the response decoded by the configuration's decoder, such as an API's own error type.
  ///
  /// - Parameter type: The type to decode.
  /// - Returns: The decoded value.
  /// - Throws: This error if there was no response; else a ``NetworkError`` that says where the body does not fit.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    guard let response else { throw self }
    return try response.decode(type)
  }
}

extension NetworkError: CustomStringConvertible, LocalizedError {
  /// Code, message, request, number of sends, why it was not repeated, and cause, with secrets hidden.
  public var description: String {
    var context = request.map { " [\($0)]" } ?? ""
    if attempts.count > 1 { context += " after \(attempts.count) sends" }
    if let hindrance = request?.call[RetryHindranceNote.self] { context += ", not repeated: \(hindrance)" }
    return describe(with: redactor, context: context)
  }

  /// Returns code, message and cause, redacted.
  ///
  /// - Parameter redactor: The redactor that hides secrets.
  /// - Returns: The text.
  public func describe(with redactor: Redactor) -> String { describe(with: redactor, context: "") }

  /// Returns code, message and cause, redacted, with a context between message and cause.
  private func describe(with redactor: Redactor, context: String) -> String {
    "\(code): \(summary(with: redactor, context: context))"
  }

  /// Returns message and cause, redacted, with a context between the two.
  func summary(with redactor: Redactor, context: String = "") -> String {
    let redactor = causeSecrets.isEmpty ? redactor : redactor.hiding(causeSecrets)
    var text = message + context
    // The text of an encoder's error shows the value that could not be encoded; the message has the other facts.
    if let underlyingError, !(underlyingError is EncodingError) {
      text += " (\(redactor.redact(text: NetworkError.text(of: underlyingError, after: message))))"
    }
    // The message was redacted when it was created, when some secrets of the call may have been unknown.
    return redactor.knownSecrets.hide(in: text)
  }

  /// Returns the text of a cause: for an error of the platform its kind, with its sentence unless the message has it.
  ///
  /// The platform's own text is a dump that repeats the sentence and the URL several times.
  private static func text(of cause: any Error, after message: String) -> String {
    let isPlatforms = cause is URLError || cause is POSIXError || cause is CocoaError || type(of: cause) is NSError.Type
    guard isPlatforms else { return "\(cause)" }
    let kind = "\((cause as NSError).domain) \((cause as NSError).code)"
    let sentence = cause.localizedDescription
    return message.contains(sentence) ? kind : "\(kind): \(sentence)"
  }

  /// A redactor that hides the known secrets of the request, the response and the call.
  private var redactor: Redactor {
    let redactor = request.map { Redactor.standard.hiding(secretsOf: $0) } ?? .standard
    return response.map { redactor.hiding(secretsOf: $0) } ?? redactor
  }

  /// The description.
  public var errorDescription: String? { description }
}

extension NetworkError: CustomReflectable, CustomDebugStringConvertible {
  /// The description, because dumping an error must not show the secrets that the description hides.
  public var debugDescription: String { description }

  /// A mirror of the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
