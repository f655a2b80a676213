public import Foundation

/// What went wrong with a request: a code to switch on, and a message that says what to do.
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
/// The family, by ``code-swift.property``: the request could not be built (`invalidURL`, `invalidRequest`,
/// `encodingFailed`), could not be sent or answered (`cannotConnect`, `dnsFailed`, `timedOut`, …), was answered by
/// somebody else (`intercepted`) or with a failure (`unacceptableStatus`), or the response could not be used
/// (`decodingFailed`, `emptyBody`, `unexpectedContentType`). Cancellation is not in the family: a cancelled call throws
/// `CancellationError`. Behaviors of users throw what they like, and it arrives as it was thrown.
///
/// No description of an error shows a secret; what it shows of URLs and bodies went through the ``Redactor``.
public struct NetworkError: Error, Sendable {
  /// The kind of error; stable, to switch on.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let rawValue: String

    /// Creates a code; modules and users may add their own.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the code.
    public var description: String { rawValue }
  }

  // One reference. The compiler inlines the getters of plain stored properties into the user's module, where Swift 6.3
  // ends with "Found ownership error" on `error.statusCode.map { … }`; and an error travels through many frames.
  private var storage: Storage

  private struct Fields: Sendable {
    let code: Code
    let message: String
    var request: NetworkRequest?
    var response: NetworkResponse?
    var underlyingError: (any Error)?
    var availableAt: Date?
    var progress: Progress?
  }

  private final class Storage: Sendable {
    let fields: Fields

    init(_ fields: Fields) { self.fields = fields }
  }

  /// The kind of error.
  public var code: Code { storage.fields.code }

  /// What happened, naming the value and the rule, and what to do.
  ///
  /// It may quote what was given or received. The ``description`` shows it without what is known to be secret.
  public var message: String { storage.fields.message }

  /// The request as it was when the error arose; `nil` if there was none yet.
  public var request: NetworkRequest? {
    get { storage.fields.request }
    set { change { $0.request = newValue } }
  }

  /// The response, if there was one.
  public var response: NetworkResponse? {
    get { storage.fields.response }
    set { change { $0.response = newValue } }
  }

  /// The error that led to this one.
  public var underlyingError: (any Error)? {
    get { storage.fields.underlyingError }
    set { change { $0.underlyingError = newValue } }
  }

  /// From when on a repeat may succeed, on the wall clock of the call; `nil` if nobody knows.
  ///
  /// A server tells so with fields such as `Retry-After` (see ``ServerHints``). So does what refuses a request on this
  /// side, such as an open circuit breaker or a wait that would outlast the call's deadline.
  public var availableAt: Date? {
    get { storage.fields.availableAt }
    set { change { $0.availableAt = newValue } }
  }

  /// How far the attempt that failed had come, as the transport knows; `nil` if it cannot tell.
  public var progress: Progress? {
    get { storage.fields.progress }
    set { change { $0.progress = newValue } }
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
  ///   - message: What happened and what to do, without secrets.
  ///   - request: The request as it was.
  ///   - response: The response, if there was one.
  ///   - underlyingError: The error that led to this one.
  public init(
    _ code: Code, _ message: String, request: NetworkRequest? = nil, response: NetworkResponse? = nil,
    underlyingError: (any Error)? = nil
  ) {
    storage = Storage(
      Fields(
        code: code, message: message, request: request ?? response?.request, response: response,
        underlyingError: underlyingError))
  }

  /// The status of the response; `nil` if there was none.
  public var statusCode: Int? { response?.statusCode }

  /// Every send of the call up to this error, in order.
  public var attempts: [Attempt] { request?.call.attempts ?? [] }

  /// Returns the body of the response decoded by the configuration's decoder, such as an API's own error type.
  ///
  /// - Parameter type: What to decode.
  /// - Returns: The decoded value.
  /// - Throws: This error if there was no response; else a ``NetworkError`` that says where the body does not fit.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    guard let response else { throw self }
    return try response.decode(type)
  }
}

extension NetworkError: CustomStringConvertible, LocalizedError {
  /// Code, message, request, number of sends and cause, with secrets hidden.
  public var description: String {
    var context = request.map { " [\($0)]" } ?? ""
    if attempts.count > 1 { context += " after \(attempts.count) sends" }
    return describe(with: redactor, context: context)
  }

  /// Returns code, message and cause as a redactor shows them.
  ///
  /// - Parameter redactor: What hides secrets.
  /// - Returns: The text.
  public func describe(with redactor: Redactor) -> String { describe(with: redactor, context: "") }

  /// Returns code, message and cause as a redactor shows them, with a context between message and cause.
  private func describe(with redactor: Redactor, context: String) -> String {
    "\(code): \(summary(with: redactor, context: context))"
  }

  /// Message and cause as a redactor shows them, and between the two what is told besides.
  func summary(with redactor: Redactor, context: String = "") -> String {
    var text = message + context
    // An encoder's error shows the value that it could not encode, and the message tells the rest.
    if let underlyingError, !(underlyingError is EncodingError) {
      text += " (\(redactor.redact(text: "\(underlyingError)")))"
    }
    // The message was redacted when it was made, when not every secret of the call may have been known.
    return redactor.knownSecrets.hide(in: text)
  }

  /// Hides what the request, the response and the call know to be secret.
  private var redactor: Redactor {
    let redactor = request.map { Redactor.standard.hiding(secretsOf: $0) } ?? .standard
    return response.map { redactor.hiding(secretsOf: $0) } ?? redactor
  }

  /// The description.
  public var errorDescription: String? { description }
}

extension NetworkError: CustomReflectable, CustomDebugStringConvertible {
  /// The description: dumping an error must not show what describing it hides.
  public var debugDescription: String { description }

  /// Only what the description shows.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
