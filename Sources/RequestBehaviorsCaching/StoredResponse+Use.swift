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
    var (statusCode, headers, body) = (self.statusCode, self.headers, ResponseBody.empty)
    headers.set("Age", String(Int(min(terms.age(at: now), Double(1 << 31)))))
    switch ReceivedConditions.evaluate(request.headers, on: self) {
    case .unknown: return nil
    case .notModified: (statusCode, headers) = (304, StoredFields.ofNotModified(headers))
    case .full where request.method == .head: break
    case .full:
      guard let range = request.headers[.range] else {
        body = .data(try limited(self.body, by: request))
        break
      }
      // Offsets count the bytes that were sent, and those of an encoded body are not stored.
      guard statusCode == 200, !headers.contains("Content-Encoding"),
        let offsets = ByteRange(range)?.offsets(inLength: self.body.count)
      else { return nil }
      let part = Data(self.body.dropFirst(offsets.lowerBound).prefix(offsets.count))
      statusCode = 206
      headers.set("Content-Range", ByteRange.contentRange(offsets, ofLength: self.body.count))
      headers.set("Content-Length", String(offsets.count))
      body = .data(try limited(part, by: request))
    }
    var response = NetworkResponse(
      request: request, statusCode: statusCode, headers: headers, body: body, source: source)
    response.verification = verification
    response.info[CacheFacts.self] = CacheFacts(self, at: now, isChanged: false)
    return response
  }

  private func limited(_ body: Data, by request: NetworkRequest) throws -> Data {
    guard request.options.delivery == .streamed || body.count <= request.options.bodyLimit else {
      throw NetworkError.bodyTooLarge(limit: request.options.bodyLimit)
    }
    return body
  }
}
