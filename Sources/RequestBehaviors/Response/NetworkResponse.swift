public import Foundation

/// A response: status, headers, body, and how it was received.
public struct NetworkResponse: Sendable {
  // One reference, because every step on the way back copies the response. That was a fifth of the cost of a behavior
  // with `intercept`.
  private var storage: Storage

  /// The request as it was sent; after a redirect it is not the caller's.
  public var request: NetworkRequest {
    get { storage.fields.request }
    _modify {
      detach()
      yield &storage.fields.request
    }
  }

  /// The status code, 100 to 999.
  public var statusCode: Int {
    get { storage.fields.statusCode }
    _modify {
      detach()
      yield &storage.fields.statusCode
    }
  }

  /// The header fields; URLSession on Linux loses their order and joins repeated names.
  public var headers: HeaderFields {
    get { storage.fields.headers }
    _modify {
      detach()
      yield &storage.fields.headers
    }
  }

  /// The body.
  public var body: ResponseBody {
    get { storage.fields.body }
    _modify {
      detach()
      // Deferred, so that it also runs if the code that changes the body throws.
      defer {
        forgetDecoded()
        followClock()
      }
      yield &storage.fields.body
    }
  }

  /// The times of the exchange, on the call's clock.
  public var timings: ResponseTimings {
    get { storage.fields.timings }
    _modify {
      detach()
      yield &storage.fields.timings
    }
  }

  /// The source of the response.
  public var source: ResponseSource {
    get { storage.fields.source }
    _modify {
      detach()
      yield &storage.fields.source
    }
  }

  /// The result of checking that the response comes from the server.
  public var verification: Verification {
    get { storage.fields.verification }
    _modify {
      detach()
      yield &storage.fields.verification
    }
  }

  /// Typed facts that behaviors left for the caller.
  public var info: ResponseInfo {
    get { storage.fields.info }
    _modify {
      detach()
      yield &storage.fields.info
    }
  }

  /// The result of checking that a response comes from the server.
  public enum Verification: String, Sendable, Hashable, Codable {
    /// No behavior checked the response.
    case none
    /// A behavior checked that the response comes from the server.
    case verified
    /// A behavior checked the response and found no proof: it may come from an intermediary.
    case unverified
  }

  /// Creates a response.
  ///
  /// - Parameters:
  ///   - request: The request as it was sent.
  ///   - statusCode: The status code.
  ///   - headers: The header fields; white space around values is removed (RFC 9110 §5.5). None by default.
  ///   - body: The body; empty by default.
  ///   - timings: The times of the exchange; by default now, on the call's clock, without an end for a stream.
  ///   - source: The source of the response; the network by default.
  ///   - isVerified: Whether it is known to come from the server; true by default.
  public init(
    request: NetworkRequest, statusCode: Int, headers: HeaderFields = HeaderFields(), body: ResponseBody = .empty,
    timings: ResponseTimings? = nil, source: ResponseSource = .network, isVerified: Bool = true
  ) {
    let now = timings == nil ? request.call.clock.now() : .zero
    let end = if case .stream = body { Duration?.none } else { now }
    storage = Storage(
      Fields(
        request: request, statusCode: statusCode, headers: headers.withoutOuterSpace(), body: body,
        timings: timings ?? ResponseTimings(sent: now, firstByte: now, lastByte: end), source: source,
        verification: isVerified ? .none : .unverified))
    followClock()
  }

  /// Makes a stream use the call's clock for the time of its end.
  func followClock() {
    if case .stream(let stream) = body { stream.source.follow(request.call.clock) }
  }

  /// Every send of the call up to this response, in order: redirects, retries, replays.
  public var attempts: [Attempt] { request.call.attempts }
}

extension NetworkResponse {
  private struct Fields {
    var request: NetworkRequest
    var statusCode: Int
    var headers: HeaderFields
    var body: ResponseBody
    var timings: ResponseTimings
    var source: ResponseSource
    var verification: Verification
    var info = ResponseInfo()
  }

  // Unchecked, as is the access, because a response changes its storage only while no other refers to it.
  private final class Storage: @unchecked Sendable {
    @exclusivity(unchecked) var fields: Fields

    init(_ fields: Fields) { self.fields = fields }
  }

  /// Gives the response a storage of its own, before a change.
  private mutating func detach() {
    if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.fields) }
  }
}

extension NetworkResponse {
  /// The bytes of the body.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyNotBuffered`` if the body is a stream or a
  ///   file; ``buffered(upTo:)`` reads it.
  public var data: Data {
    get throws {
      guard case .data(let data) = body else { throw errorMapping(NetworkError.bodyNotBuffered(original)) }
      return data
    }
  }

  /// The body as text, by the `charset` of its `Content-Type` (RFC 9110 §8.3.2).
  ///
  /// Known are UTF-8, UTF-16, UTF-32, ISO 8859-1 and 8859-2, Windows-1250 to 1254, Shift JIS, EUC-JP and ISO-2022-JP.
  /// With another charset or without one, if the bytes are not valid in the charset, and for JSON (RFC 8259 §11), the
  /// body is read as UTF-8, and invalid sequences are replaced.
  ///
  /// - Throws: The same errors as ``data``.
  public var text: String {
    get throws { String(body: try data, contentType: headers[.contentType]) }
  }

  /// Returns the body decoded by the configuration's decoder.
  ///
  /// If the request accepts the status, and names a place in the body by ``Request/decoding(at:)``, it is the value at
  /// that place. `decode(type, at: "")` decodes the whole body in any case.
  ///
  /// - Parameter type: The type to decode.
  /// - Returns: The decoded value.
  /// - Throws: ``NetworkError`` that says where the body does not fit, with a redacted excerpt.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    do { return try ResponseDecoding(original).value(type) } catch { throw errorMapping(error) }
  }

  /// Returns the response with its whole body in memory.
  ///
  /// - Parameter limit: The most bytes to accept; by default the request's ``RequestOptions/bodyLimit``.
  /// - Returns: The same response with its body in memory. A body that is in memory is returned whatever its length.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyTooLarge``, or the error of the stream.
  public func buffered(upTo limit: Int? = nil) async throws -> NetworkResponse {
    if case .data = body { return self }
    let stream = bytes
    var copy = self
    let data = try await stream.collect(upTo: limit ?? request.options.bodyLimit)
    // A file was received long before it is read, so that reading it does not change the timings.
    if case .file = body { copy.body = .data(data) } else { copy.settle(.data(data), stream.source.completion) }
    return copy
  }
}

extension NetworkResponse: CustomStringConvertible {
  /// Status, method and URL, with secrets hidden.
  public var description: String { "\(statusCode) for \(request)" }
}
