import Foundation

/// The layout of a `multipart/form-data` body (RFC 7578): the bytes in memory, and the parts that are read while
/// sending.
struct MultipartEncoding: Sendable {
  /// A piece of the body.
  enum Segment: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// A file or a stream, the name of its part, and its length.
    case body(RequestBody, part: String, length: Int64?)
  }

  /// The separator of the parts; it occurs in no part that is in memory.
  let boundary: String

  /// The pieces, in order.
  let segments: [Segment]

  /// The number of bytes; `nil` if the length of a stream among the parts is unknown.
  let length: Int64?

  /// Lays out parts.
  ///
  /// - Parameters:
  ///   - parts: The parts, in order; an empty list makes a form without fields.
  ///   - encoder: The encoder for values among the parts.
  ///   - generator: The source of randomness for the boundary.
  ///   - note: Receives the secrets of the parts in memory.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable`` for a file that cannot be
  ///   read, ``NetworkError/Code-swift.struct/encodingFailed`` for a value that cannot be encoded,
  ///   ``NetworkError/Code-swift.struct/bodyConsumed`` for a one-shot stream that was sent before, and
  ///   ``NetworkError/Code-swift.struct/invalidRequest`` for a media type that breaks the rules.
  init(
    _ parts: [MultipartPart], encoder: any BodyEncoder, using generator: inout some RandomNumberGenerator,
    noting note: (String) -> Void = { _ in }
  ) throws {
    let bodies = try parts.map { part in
      let body = try part.content.makeBody(with: encoder, noting: note)
      for secret in part.secrets(in: body) { note(secret) }
      return body
    }
    boundary = MultipartEncoding.boundary(notIn: bodies.compactMap(\.data), using: &generator)
    var segments: [Segment] = []
    var pending = Data()
    var length: Int64? = 0
    // All bytes in memory between two files or streams are one segment.
    for (part, body) in zip(parts, bodies) {
      pending += Data("--\(boundary)\r\n\(try part.head(contentType: body.contentType))".utf8)
      if let data = body.data {
        pending += data
      } else {
        let count = try MultipartEncoding.length(of: body)
        length = try count.flatMap { count in
          try length.map { try MultipartEncoding.sum(of: $0, Int64(pending.count), count) }
        }
        segments += [.data(pending), .body(body, part: part.name, length: count)]
        pending = Data()
      }
      pending += Data("\r\n".utf8)
    }
    pending += Data("--\(boundary)--\r\n".utf8)
    self.segments = segments + [.data(pending)]
    self.length = try length.map { try MultipartEncoding.sum(of: $0, Int64(pending.count)) }
  }

  private static func sum(of lengths: Int64...) throws -> Int64 {
    try lengths.reduce(0) { total, length in
      let (sum, overflows) = total.addingReportingOverflow(length)
      guard !overflows else {
        throw NetworkError(
          .invalidRequest, "the parts of the form are said to have more than \(Int64.max) bytes in all")
      }
      return sum
    }
  }

  /// The media type, which names the boundary.
  var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// The body to send: bytes if all parts are in memory, else a stream.
  ///
  /// The stream is replayable if all parts are.
  var body: RequestBody {
    if segments.count == 1, case .data(let data)? = segments.first { return .data(data, contentType: contentType) }
    let isOneShot = segments.contains {
      if case .body(let body, _, _) = $0, case .oneShot = body.content { return true }
      return false
    }
    guard isOneShot else {
      return .stream(contentType: contentType, length: length) { [segments] in MultipartStream(segments).byteStream }
    }
    return .oneShot(MultipartStream(segments).byteStream, contentType: contentType, length: length)
  }

  private static func length(of body: RequestBody) throws -> Int64? {
    if case .file(let url) = body.content { return try RequestBody.length(ofFile: url) }
    guard body.isReplayable else { throw NetworkError.bodyConsumed() }
    return body.length
  }

  /// Returns a boundary that does not occur in the bytes, so that they cannot end a part (RFC 2046 §5.1.1).
  private static func boundary(notIn contents: [Data], using generator: inout some RandomNumberGenerator) -> String {
    let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    while true {
      let random = (0..<32).map { _ in characters[Int.random(in: 0..<characters.count, using: &generator)] }
      let boundary = "form-" + String(random)
      if !contents.contains(where: { $0.range(of: Data(boundary.utf8)) != nil }) { return boundary }
    }
  }
}
