import Foundation
public import RequestBehaviors

/// The parts of a request in ``MockTransport/sent`` that tests inspect.
extension NetworkRequest {
  /// Returns the body decoded from JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - decoder: The decoder; by default Foundation's JSON decoder.
  /// - Returns: The decoded value.
  /// - Throws: `NetworkError` if there is no body or it is not in memory; the decoder's error if the body does not fit.
  public func json<Value: Decodable>(
    _ type: Value.Type = Value.self, decoder: any BodyDecoder = RequestConfiguration.jsonDecoder
  ) throws -> Value {
    try decoder.decode(type, from: bodyInMemory)
  }

  /// The body as text in UTF-8; invalid sequences are replaced.
  ///
  /// - Throws: `NetworkError` if there is no body or it is not in memory.
  public var text: String {
    get throws { String(decoding: try bodyInMemory, as: UTF8.self) }
  }

  /// The fields of a body that is `application/x-www-form-urlencoded`, in order.
  ///
  /// - Throws: `NetworkError` if there is no body or it is not in memory.
  public var form: Query {
    get throws { Query(percentEncoded: try text, plusIsSpace: true) }
  }

  /// The items of the URL's query, in order, without their percent-encoding.
  public var query: Query { Query(percentEncoded: url.query(percentEncoded: true) ?? "") }

  private var bodyInMemory: Data {
    get throws {
      guard let body else { throw NetworkError(.emptyBody, "the request was sent without a body", request: self) }
      guard let data = body.data else {
        throw NetworkError(
          .bodyNotBuffered, "the body is a file or a stream; those of MockTransport.sent are in memory", request: self)
      }
      return data
    }
  }

  /// Returns the request with the bytes of its body; a one-shot body is used up.
  ///
  /// - Throws: `NetworkError` of code `bodyConsumed` or `bodyUnreadable`, or `CancellationError`.
  func withBodyInMemory() async throws -> NetworkRequest {
    guard let body, body.data == nil else { return self }
    var copy = self
    copy.body = .data(try await bytes(of: body), contentType: body.contentType)
    return copy
  }

  private func bytes(of body: RequestBody) async throws -> Data {
    do {
      switch body.content {
      case .data(let data): return data
      case .file(let url): return try Data(contentsOf: url)
      case .stream(let makeStream): return try await makeStream().collect(upTo: .max)
      case .oneShot(let stream): return try await stream.take().collect(upTo: .max)
      }
    } catch let error as NetworkError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw NetworkError(.bodyUnreadable, "the body could not be read: \(error)", request: self, underlyingError: error)
    }
  }
}
