public import Foundation

/// One event of a request, ready to be shown: every secret in it is hidden already.
///
/// A sink prints ``line`` or ``json``, or uses the values.
public struct LogRecord: Sendable {
  /// The kind of an event.
  public enum Kind: String, Sendable {
    /// A call began.
    case start
    /// One send of a call began; retries and redirects are sends too.
    case attemptStart
    /// The head of a streamed response is there.
    case attemptHead
    /// One send of a call ended.
    case attempt
    /// A call ended with a value or an error.
    case call
  }

  /// The kind of the event.
  public var kind: Kind
  /// The importance of the event.
  public var level: LogLevel
  /// The time of the event, by the call's clock.
  public var date: Date
  /// The number of the call, unique in the process.
  public var call: Call.ID
  /// The call that needed this one, such as one that waits for a token; `nil` for a call of the app.
  public var parent: Call.ID?
  /// The id of the call's trace, 32 hexadecimal digits; `nil` without a trace.
  public var traceID: String?
  /// The id of this send in the trace, 16 hexadecimal digits, for the kinds that are about one send.
  public var spanID: String?
  /// The number of the send, from 1, for the kinds that are about one send; the number of sends for ``Kind/call``.
  public var sends: Int
  /// The method.
  public var method: RequestMethod
  /// The redacted URL; `(no URL)` if the URL could not be built.
  public var url: String
  /// The path's template, such as `/v1/users/{}`.
  public var endpoint: String
  /// The status of the response; `nil` without a response.
  public var statusCode: Int?
  /// The length of the request's body; `nil` if it is not known before the body is read.
  public var requestBytes: Int64?
  /// The length of the response's body, for a streamed one the delivered length; `nil` if it is not known.
  public var responseBytes: Int?
  /// The time that the event took; `nil` at the start.
  public var duration: Duration?
  /// The phases of a call and their durations.
  public var phases: DurationBreakdown?
  /// The transport's measurements of the connection.
  ///
  /// `nil` if the transport does not measure, or if the response did not come from the network.
  public var connection: ConnectionTimings?
  /// The source of the response; `nil` without a response.
  public var source: ResponseSource?
  /// The error, without the URL of the record; `nil` without an error.
  public var error: String?
  /// The word for the error, by ``NetworkError/errorType``; `nil` without an error.
  public var errorType: String?
  /// The decisions of the behaviors, such as `RedirectsBehavior: redirect to https://h/new`.
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
