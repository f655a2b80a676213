import Foundation
import RequestBehaviors

extension StoredResponse {
  /// Makes the response to a request from the stored one (RFC 9111 §4, §5.1).
  ///
  /// It is like the response of the server: a HEAD gets no body, a range of a complete response is a 206, and the
  /// user's own conditions are evaluated.
  ///
  /// - Parameters:
  ///   - request: The request, to which the response is bound.
  ///   - source: The source to set in the response.
  ///   - now: The current date.
  /// - Returns: The response; `nil` if only the server can respond to the request.
  /// - Throws: `NetworkError` of code `bodyTooLarge`, as a response from the network does.
  func response(to request: NetworkRequest, source: ResponseSource, now: Date) throws -> NetworkResponse? {
    var response = NetworkResponse(request: request, statusCode: statusCode, headers: headers, source: source)
    response.headers.set("Age", String(Int(min(terms.age(at: now), Double(1 << 31)))))
    response.verification = verification
    response.info[CacheFacts.self] = CacheFacts(self, at: now, isChanged: false)
    switch ReceivedConditions.evaluate(request.headers, on: self) {
    case .unknown: return nil
    case .notModified:
      response.statusCode = 304
      response.headers = StoredFields.ofNotModified(response.headers)
      return response
    case .full: break
    }
    if request.method == .head { return response }
    guard let range = request.headers[.range] else {
      response.body = .data(try limited(body, by: request))
      return response
    }
    // Offsets count the bytes that were sent, and those of an encoded body are not stored.
    guard statusCode == 200, !headers.contains("Content-Encoding"),
      let offsets = ByteRange(range)?.offsets(inLength: body.count)
    else { return nil }
    response.statusCode = 206
    response.headers.set("Content-Range", ByteRange.contentRange(offsets, ofLength: body.count))
    response.headers.set("Content-Length", String(offsets.count))
    response.body = .data(try limited(Data(body.dropFirst(offsets.lowerBound).prefix(offsets.count)), by: request))
    return response
  }

  private func limited(_ body: Data, by request: NetworkRequest) throws -> Data {
    guard request.options.delivery == .streamed || body.count <= request.options.bodyLimit else {
      throw NetworkError.bodyTooLarge(limit: request.options.bodyLimit)
    }
    return body
  }
}

/// The part of a body that a `Range` field asks for (RFC 9110 §14.1.2, §14.2).
struct ByteRange: Sendable, Hashable {
  private let first: Int?
  private let last: Int?

  /// Reads a range of bytes; `nil` if the value has another unit, several ranges, or an invalid range.
  init?(_ value: String) {
    let prefix = "bytes="
    guard value.lowercased().hasPrefix(prefix) else { return nil }
    let parts = value.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } }) else { return nil }
    first = Int(parts[0])
    last = Int(parts[1])
    guard first != nil || last != nil, parts.allSatisfy({ $0.isEmpty || Int($0) != nil }) else { return nil }
    if let first, let last, last < first { return nil }
  }

  /// The offsets of the part in a body; `nil` if the body has no such part.
  func offsets(inLength length: Int) -> Range<Int>? {
    guard let first else {
      let count = min(last ?? 0, length)
      return count > 0 ? length - count..<length : nil
    }
    guard first < length else { return nil }
    return first..<min((last ?? length - 1), length - 1) + 1
  }

  /// The value of `Content-Range` for a part (RFC 9110 §14.4).
  static func contentRange(_ offsets: Range<Int>, ofLength length: Int) -> String {
    "bytes \(offsets.lowerBound)-\(offsets.upperBound - 1)/\(length)"
  }
}
