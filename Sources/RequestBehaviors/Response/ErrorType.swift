extension NetworkError {
  /// The value of OpenTelemetry's attribute `error.type` in metrics, spans and log records.
  ///
  /// It is one of a small set, and never a secret:
  ///
  /// | code | word |
  /// |---|---|
  /// | ``Code-swift.struct/unacceptableStatus`` | the status, such as `404` |
  /// | ``Code-swift.struct/dnsFailed`` | `name_resolution_error` |
  /// | ``Code-swift.struct/cannotConnect`` | `connection_error` |
  /// | ``Code-swift.struct/tlsFailed`` | `secure_connection_error` |
  /// | ``Code-swift.struct/connectionLost``, ``Code-swift.struct/truncatedBody`` | `response_ended` |
  /// | ``Code-swift.struct/badResponse`` | `invalid_response` |
  /// | ``Code-swift.struct/timedOut``, ``Code-swift.struct/deadlineExceeded`` | `timeout` |
  /// | any other | the code itself, such as `intercepted` |
  public var errorType: String {
    if code == .unacceptableStatus, let statusCode { return "\(statusCode)" }
    return ErrorType.word(for: code)
  }
}

extension CallReport {
  /// The ``NetworkError/errorType`` of the call's error; `nil` if the call threw nothing.
  ///
  /// A cancellation is `cancelled`. An error of another type has the name of its type, because its text is
  /// unpredictable.
  public var errorType: String? { ErrorType.word(for: error) }
}

extension Attempt {
  /// The ``NetworkError/errorType`` of the attempt's outcome.
  ///
  /// It is `nil` while the attempt is under way, and for a response with a status below 400.
  ///
  /// A cancellation is `cancelled`, an error of another type `_OTHER`.
  public var errorType: String? { ErrorType.word(for: outcome) }
}

/// Computes the value of the attribute `error.type`.
private enum ErrorType {
  /// Returns the value for the error of a call; `nil` if it threw nothing.
  static func word(for error: (any Error)?) -> String? {
    switch error {
    case nil: nil
    case is CancellationError: "cancelled"
    case let error as NetworkError: error.errorType
    // The type's name rather than the error's text, which is unpredictable.
    case let error?: String(describing: type(of: error))
    }
  }

  /// Returns the value for an attempt; `nil` if it is under way or got a response with a status below 400.
  static func word(for outcome: Attempt.Outcome) -> String? {
    switch outcome {
    case .pending: nil
    case .response(let statusCode, _): statusCode >= 400 ? "\(statusCode)" : nil
    case .failure(let code?, _): word(for: code)
    case .failure(nil, _): "_OTHER"
    case .cancelled: "cancelled"
    }
  }

  static func word(for code: NetworkError.Code) -> String {
    switch code {
    case .dnsFailed: "name_resolution_error"
    case .cannotConnect: "connection_error"
    case .tlsFailed: "secure_connection_error"
    case .connectionLost, .truncatedBody: "response_ended"
    case .badResponse: "invalid_response"
    case .timedOut, .deadlineExceeded: "timeout"
    default: code.rawValue
    }
  }
}
