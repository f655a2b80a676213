import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

extension LoopbackServer {
  /// Returns a request to this server.
  func request(
    _ method: RequestMethod = .get, _ path: String = "", headers: HeaderFields = [:], body: RequestBody? = nil,
    options: RequestOptions = RequestOptions()
  ) -> NetworkRequest {
    NetworkRequest(method, url: baseURL.appending(path: path), headers: headers, body: body, options: options)
  }
}

extension URLSessionTransport {
  /// The error that a send ends with.
  func failure(of request: NetworkRequest) async throws -> NetworkError {
    try await #require(throws: NetworkError.self) { try await self.send(request) }
  }
}
