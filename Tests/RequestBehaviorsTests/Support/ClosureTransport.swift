import Foundation
import RequestBehaviors

/// A transport that answers with what a closure returns, and remembers what it was asked.
final class ClosureTransport: Transport {
  private let answer: @Sendable (NetworkRequest) async throws -> NetworkResponse
  private let requests = Box<[NetworkRequest]>([])

  init(_ answer: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse) { self.answer = answer }

  /// Answers every request with one status and body.
  convenience init(_ statusCode: Int = 200, _ body: String = "", headers: HeaderFields = [:]) {
    self.init {
      NetworkResponse(request: $0, statusCode: statusCode, headers: headers, body: .data(Data(body.utf8)))
    }
  }

  /// Answers the requests with one status after the other, the last one for ever.
  convenience init(statuses: [Int]) {
    let rest = Box(statuses)
    self.init { request in
      let status = rest.update { $0.count > 1 ? $0.removeFirst() : $0.first ?? 200 }
      return NetworkResponse(request: request, statusCode: status)
    }
  }

  var sent: [NetworkRequest] { requests.value }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try request.validate()
    requests.update { $0.append(request) }
    return try await answer(request)
  }

  func shutdown() async {}
}

let baseURL = URL(string: "https://api.example.com/v1")!

extension NetworkClient {
  /// A client of `baseURL` over a transport.
  convenience init(_ transport: any Transport, _ behaviors: [any RequestBehavior] = []) {
    self.init(baseURL: baseURL, behaviors: behaviors, transport: transport)
  }
}
