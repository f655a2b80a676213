extension NetworkError {
  static func encodingFailed(_ value: Any, _ error: any Error) -> NetworkError {
    let reason =
      if case EncodingError.invalidValue(_, let context) = error {
        "\(path(context.codingPath)): \(Redactor.standard.redact(text: context.debugDescription))"
      } else {
        Redactor.standard.redact(text: "\(error)")
      }
    return NetworkError(.encodingFailed, "\(type(of: value)) could not be encoded at \(reason)", underlyingError: error)
  }

  /// Returns the error for a body that is longer than its limit, of code ``Code-swift.struct/bodyTooLarge``.
  public static func bodyTooLarge(limit: Int) -> NetworkError {
    NetworkError(
      .bodyTooLarge, "the body is longer than the limit of \(limit) bytes; raise bodyLimit if that is expected")
  }

  /// The error with the progress of a call of which nothing was sent.
  package var unsent: NetworkError {
    var error = self
    error.progress = Progress(.notSent)
    return error
  }

  package static func clientShutDown() -> NetworkError {
    NetworkError(.clientShutDown, "the client was shut down; make a new one")
  }

  static func bodyConsumed() -> NetworkError {
    NetworkError(.bodyConsumed, "the one-shot body has been sent; use a replayable stream for requests that may repeat")
  }

  static func bodyRead() -> NetworkError {
    NetworkError(.bodyConsumed, "the stream was read already; keep what is needed again, or use buffered()")
  }

  static func bodyNotBuffered(_ response: NetworkResponse) -> NetworkError {
    NetworkError(
      .bodyNotBuffered, "the body is a stream or a file; read it with buffered(), or iterate its bytes",
      response: response.withoutStream)
  }

  /// Returns the error for a response with a status that the call does not accept.
  ///
  /// Its message has the status, the ``NetworkResponse/refusalReason`` and the ``NetworkError/serverMessage``. For a
  /// 401 or 403 it also lists the credentials that were withheld from the origin.
  ///
  /// - Parameter response: The response.
  /// - Returns: An error of code ``Code-swift.struct/unacceptableStatus``.
  public static func unacceptableStatus(_ response: NetworkResponse) -> NetworkError {
    var message = "the server answered \(response.statusCode)"
    if let reason = response.refusalReason { message += ": \(reason)" }
    if let words = ServerMessage.text(of: response), !message.contains(words) { message += ": \(words)" }
    if response.statusCode == 401 || response.statusCode == 403 {
      message += response.request.call.noteOnWithheld(from: response.request.origin) ?? ""
    }
    var error = NetworkError(.unacceptableStatus, message, response: response)
    error.availableAt = ServerHints(response).availableAt(after: response)
    return error
  }

  /// Returns the error for an unverified response; it has only the status, because the content may be an impostor's.
  static func unverified(_ response: NetworkResponse) -> NetworkError {
    NetworkError(
      .intercepted,
      "something answered \(response.statusCode), which the request takes for a success, and the response is not known to "
        + "come from the server; is there a captive portal to sign in to?", request: response.request)
  }

  /// Returns the error for a body that does not fit, or for a part of it at a place such as `line 3`.
  static func decodingFailed(
    _ error: any Error, as type: Any.Type, _ response: NetworkResponse, place part: String? = nil
  ) -> NetworkError {
    let redactor = Redactor.standard.hiding(secretsOf: response)
    // The names in it may be the server's text.
    func place(_ keys: [any CodingKey]) -> String {
      redactor.redact(beginningOf: path(keys), limit: 256, onOneLine: true)
    }
    let reason =
      switch error {
      case DecodingError.keyNotFound(let key, let context): "\(place(context.codingPath + [key])): the key is missing"
      case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
        DecodingError.dataCorrupted(let context):
        "\(place(context.codingPath)): \(redactor.redact(text: context.debugDescription))"
      default: "\(redactor.redact(text: "\(error)"))"
      }
    var failure = NetworkError(
      .decodingFailed,
      (part.map { "\($0): " } ?? "")
        + "\(type) could not be decoded at \(reason); the \(part == nil ? "body" : "text") is \(excerpt(response))",
      response: response, underlyingError: nil)
    failure.wantedType = String(reflecting: type)
    return failure
  }

  static func emptyBody(_ type: Any.Type, _ response: NetworkResponse) -> NetworkError {
    var failure = NetworkError(
      .emptyBody, "the body is empty where \(type) is needed; use Void or an optional type if that is expected",
      response: response)
    failure.wantedType = String(reflecting: type)
    return failure
  }

  static func unexpectedContentType(
    _ found: String, _ wanted: [String], as type: Any.Type, _ response: NetworkResponse
  ) -> NetworkError {
    var failure = NetworkError(
      .unexpectedContentType,
      "the body is \(found), wanted \(wanted.joined(separator: " or ")); set acceptableContentTypes to decode it all "
        + "the same; the body is \(excerpt(response))", response: response)
    failure.wantedType = String(reflecting: type)
    return failure
  }

  private static func excerpt(_ response: NetworkResponse) -> String {
    guard case .data(let data) = response.body else { return "not in memory" }
    return Redactor.standard.hiding(secretsOf: response).redact(
      body: data, contentType: response.headers[.contentType], limit: 256)
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.isEmpty ? "the top" : keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
  }
}
