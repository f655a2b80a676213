extension NetworkError {
  /// The word for the error in metrics, spans and log records, as OpenTelemetry's attribute `error.type` has it.
  ///
  /// It is one of few, and never a secret:
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
  /// The word for what the call threw, as ``NetworkError/errorType`` has it; `nil` if it threw nothing.
  ///
  /// A cancellation is `cancelled`. An error of another type has the name of its type, because what it says may be
  /// anything.
  public var errorType: String? { ErrorType.word(for: error) }
}

extension Attempt {
  /// The word for how the attempt ended, as ``NetworkError/errorType`` has it; `nil` if it is under way or got a
  /// response of a status below 400.
  ///
  /// A cancellation is `cancelled`, an error of another type `_OTHER`.
  public var errorType: String? { ErrorType.word(for: outcome) }
}

/// Decides the value of the attribute `error.type`.
private enum ErrorType {
  /// The word for what a call threw; `nil` if it threw nothing.
  static func word(for error: (any Error)?) -> String? {
    switch error {
    case nil: nil
    case is CancellationError: "cancelled"
    case let error as NetworkError: error.errorType
    // The type's name, not what the error says, which may be anything.
    case let error?: String(describing: type(of: error))
    }
  }

  /// The word for how an attempt ended; `nil` if it is under way or got a response of a status below 400.
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
