package import Foundation
package import RequestBehaviors

/// A transport that answers with what a closure returns, and remembers what it was asked.
package final class ClosureTransport: Transport {
  private let answer: @Sendable (NetworkRequest) async throws -> NetworkResponse
  private let requests = Box<[NetworkRequest]>([])

  package init(_ answer: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse) { self.answer = answer }

  /// Answers every request with one status and body.
  package convenience init(_ statusCode: Int = 200, _ body: String = "", headers: HeaderFields = [:]) {
    self.init {
      NetworkResponse(request: $0, statusCode: statusCode, headers: headers, body: .data(Data(body.utf8)))
    }
  }

  /// Answers the requests with one status after the other, the last one for ever.
  package convenience init(statuses: [Int]) {
    let rest = Box(statuses)
    self.init { request in
      let status = rest.update { $0.count > 1 ? $0.removeFirst() : $0.first ?? 200 }
      return NetworkResponse(request: request, statusCode: status)
    }
  }

  /// Answers with a body that is fresh for a minute, and validations only after an hour.
  package static func validatingLate(_ body: String) -> ClosureTransport {
    ClosureTransport { request in
      if request.headers.contains("If-None-Match") { try await request.call.clock.sleep(for: .seconds(3_600)) }
      let headers: HeaderFields = [
        "Content-Type": "application/json", "ETag": "\"1\"", "Cache-Control": "max-age=60, stale-if-error=600",
      ]
      return NetworkResponse(request: request, statusCode: 200, headers: headers, body: .data(Data(body.utf8)))
    }
  }

  package var sent: [NetworkRequest] { requests.value }

  package func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try request.validate()
    requests.update { $0.append(request) }
    return try await answer(request)
  }

  package func shutdown() async {}
}

package let baseURL = URL(string: "https://api.example.com/v1")!

extension NetworkClient {
  /// A client of `baseURL` over a transport.
  package convenience init(_ transport: any Transport, _ behaviors: [any RequestBehavior] = []) {
    self.init(baseURL: baseURL, behaviors: behaviors, transport: transport)
  }
}

extension NetworkClient {
  /// A client of `baseURL` over a transport, on a clock.
  package convenience init(_ transport: any Transport, _ clock: RequestClock, _ behaviors: [any RequestBehavior]) {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.clock = clock
    self.init(configuration: configuration, transport: transport)
  }
}

extension ClosureTransport {
  /// Answers with what a closure returns for the number of the send, from 1.
  package convenience init(
    numbered answer: @escaping @Sendable (Int, NetworkRequest) async throws -> NetworkResponse
  ) {
    let count = Box(0)
    self.init { request in
      let number = count.update {
        $0 += 1
        return $0
      }
      return try await answer(number, request)
    }
  }
}
