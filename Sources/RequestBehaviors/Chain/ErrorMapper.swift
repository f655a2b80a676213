/// A behavior that replaces the errors that leave the client it is listed for.
///
/// The client asks it once for each error that a caller would get, wherever the error arises; ``MapErrorBehavior``
/// lists the places. A `CancellationError` is never replaced. Of several in a list the innermost is asked first, and
/// the next one gets its replacement.
public protocol ErrorMapper: RequestBehavior {
  /// Returns the error that the caller gets.
  ///
  /// It is called on the path of the request and must not block.
  ///
  /// - Parameter error: The error; an unacceptable status is a ``NetworkError`` with the response.
  /// - Returns: The replacement, or the same error.
  func mapped(_ error: any Error) -> any Error
}

/// Replaces errors by the ``ErrorMapper``s of a list.
struct ErrorMapping: Sendable {
  // Innermost first.
  private let mappers: [any ErrorMapper]

  /// Creates a mapping; `nil` if the list has no mapper.
  init?(_ entries: some Sequence<Pipeline.Entry>) {
    let mappers = entries.compactMap { $0.behavior as? any ErrorMapper }
    if mappers.isEmpty { return nil }
    self.mappers = mappers.reversed()
  }

  /// Returns the error that leaves the client.
  func callAsFunction(_ error: any Error) -> any Error {
    if error is CancellationError { return error }
    return mappers.reduce(error) { $1.mapped($0) }
  }

  /// The mapping as a stream keeps it.
  var replacement: ByteStream.ErrorReplacement { { self($0) } }
}

extension ErrorMapping? {
  /// Returns the error that leaves the client; the same one without a mapping.
  func callAsFunction(_ error: any Error) -> any Error { map { $0(error) } ?? error }
}

// MARK: - Responses that have left the client

private enum LeftWith: ResponseInfoKey { typealias Value = ErrorMapping }

extension NetworkResponse {
  /// The mapping of errors of reading the response; `nil` within the client, where behaviors read it.
  var errorMapping: ErrorMapping? { info[LeftWith.self] }

  /// Returns the response as a caller gets it: errors of reading it are replaced too.
  func leaving(with mapping: ErrorMapping?) -> NetworkResponse {
    guard let mapping else { return self }
    var response = self
    response.info[LeftWith.self] = mapping
    if case .stream(let stream) = body { response.body = .stream(stream.mappingErrors(with: mapping.replacement)) }
    return response
  }

  /// The response as behaviors get it: errors of reading it are as they arise.
  ///
  /// An error refers to this one, because a mapper that reads the error's response must not be asked again.
  var original: NetworkResponse {
    guard errorMapping != nil else { return self }
    var response = self
    response.info[LeftWith.self] = nil
    if case .stream(let stream) = body { response.body = .stream(stream.mappingErrors(with: nil)) }
    return response
  }
}
