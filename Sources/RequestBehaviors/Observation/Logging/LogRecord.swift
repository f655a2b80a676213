public import Foundation

/// One thing that happened to a request, ready to be shown: every secret in it is hidden already.
///
/// A sink prints ``line`` or ``json``, or takes the values apart.
public struct LogRecord: Sendable {
  /// What happened.
  public enum Kind: String, Sendable {
    /// A call began.
    case start
    /// One send of a call, a retry or a redirect among them, began.
    case attemptStart
    /// The head of a streamed response is there.
    case attemptHead
    /// One send of a call ended.
    case attempt
    /// A call ended, whether by a value or by an error.
    case call
  }

  /// What happened.
  public var kind: Kind
  /// How much it matters.
  public var level: LogLevel
  /// When it was logged, by the call's clock.
  public var date: Date
  /// The number of the call, unique in the process.
  public var call: Call.ID
  /// The call that needed this one, such as one that waits for a token; `nil` for a call of a user's.
  public var parent: Call.ID?
  /// The id of the trace that the call belongs to, 32 hexadecimal digits; `nil` if it belongs to none.
  public var traceID: String?
  /// The id of this send in the trace, 16 hexadecimal digits, for the kinds that are about one send.
  public var spanID: String?
  /// Which send of the call it was, from 1, for the kinds that are about one; how many there were, for ``Kind/call``.
  public var sends: Int
  /// The method.
  public var method: RequestMethod
  /// The redacted URL; `(no URL)` where none could be built.
  public var url: String
  /// The path's template, such as `/v1/users/{}`.
  public var endpoint: String
  /// The status of the response; `nil` if there was none.
  public var statusCode: Int?
  /// The length of the request's body; `nil` if that is not known before it is read.
  public var requestBytes: Int64?
  /// The length of the response's body, for a streamed one what was delivered of it; `nil` if that is not known.
  public var responseBytes: Int?
  /// How long it took; `nil` at the start.
  public var duration: Duration?
  /// Where the time of a call went.
  public var phases: DurationBreakdown?
  /// What the transport measured of the connection; `nil` where it cannot tell, and of what came from elsewhere.
  public var connection: ConnectionTimings?
  /// Where the response came from; `nil` if there was none.
  public var source: ResponseSource?
  /// What went wrong, without the URL of the record; `nil` if nothing did.
  public var error: String?
  /// The word for what went wrong, as ``NetworkError/errorType`` has it; `nil` if nothing did.
  public var errorType: String?
  /// What the behaviors decided on the way, such as `RedirectsBehavior: redirect to https://h/new`.
  public var decisions: [String] = []
  /// The fields of the request as it was sent; `nil` unless headers are logged.
  public var requestHeaders: HeaderFields?
  /// The fields of the response; `nil` unless headers are logged.
  public var responseHeaders: HeaderFields?
  /// The beginning of the request's body; `nil` unless bodies are logged and it is in memory.
  public var requestBody: String?
  /// The beginning of the response's body; `nil` unless bodies are logged and it is in memory.
  public var responseBody: String?
}

extension LogRecord.Kind {
  /// Whether it is about one send of a call.
  var isOfOneSend: Bool { [.attemptStart, .attemptHead, .attempt].contains(self) }
}

extension LogRecord: CustomStringConvertible {
  /// The record as one line, and a line for each header and body that is logged.
  public var description: String { line }
}
