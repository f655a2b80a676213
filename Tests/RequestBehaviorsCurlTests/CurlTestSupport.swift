#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  extension LoopbackServer {
    /// Returns a request to this server.
    func request(
      _ method: RequestMethod = .get, _ path: String = "", headers: HeaderFields = [:], body: RequestBody? = nil,
      clock: RequestClock = .system, _ change: (inout RequestOptions) -> Void = { _ in }
    ) -> NetworkRequest {
      var options = RequestOptions()
      change(&options)
      return NetworkRequest(
        method, url: baseURL.appending(path: path), headers: headers, body: body, options: options,
        call: Call(clock: clock, options: options))
    }
  }

  extension Transport {
    /// The error that a send ends with.
    func failure(of request: NetworkRequest) async throws -> NetworkError {
      try await #require(throws: NetworkError.self) { try await self.send(request) }
    }

    /// Sends a request and returns the stream of the response's body.
    func stream(_ request: NetworkRequest) async throws -> ByteStream {
      var request = request
      request.options.delivery = .streamed
      let response = try await send(request)
      guard case .stream(let stream) = response.body else { throw CocoaError(.fileReadUnknown) }
      return stream
    }
  }
#endif
