import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// What a call says of the shared request that it waited for.
@Suite(.limited) struct CoalescingReportTests {
  private let baseURL = URL(string: "https://api.example.com/v1") ?? URL(filePath: "/")
  private let mock: MockTransport

  init() { mock = MockTransport(baseURL: baseURL) }

  /// Puts a key into the path.
  private struct PathKey: RequestBehavior {
    static let key = "pathkey12345"

    func modify(_ request: inout NetworkRequest) async throws {
      request.call.addSecret(PathKey.key)
      request.url = URL(string: "https://api.example.com/v1/\(PathKey.key)/x") ?? request.url
    }
  }

  @Test(arguments: [404, 200]) func `secrets that are added further in are hidden from the caller`(status: Int)
    async throws
  {
    mock.on(.get, "**").respond(status, text: "about \(PathKey.key)")
    let lines = Locked<[String]>([])
    let sink = ClosureLogSink { record in lines.withLock { $0.append(record.line) } }
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.coalescing(), .logging(sink, level: .debug, bodyLimit: 100), PathKey()],
      transport: mock)
    do {
      let response: NetworkResponse = try await client.send(.get("x"))
      #expect(!"\(response) \(response.request.call.attempts)".contains(PathKey.key))
    } catch let error as NetworkError {
      #expect(!"\(error) \(error.attempts)".contains(PathKey.key))
    }
    let written = lines.withLock { $0 }.joined(separator: "\n")
    #expect(written.contains("about REDACTED"))
    #expect(!written.contains(PathKey.key))
  }
}
