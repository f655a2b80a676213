import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

// What the samples of the documentation are about.

let baseURL = URL(string: "https://api.example.com/v1")!

struct User: Codable, Sendable {
  var name: String
}

struct Issue: Codable, Sendable {
  var id = 1
  var title = "title"
}

struct Problem: Decodable {
  let title: String
}

struct TenantBehavior {
  let tenant: String
}

extension TenantBehavior: RequestBehavior {
  func headers(for request: NetworkRequest) -> HeaderFields {
    ["X-Tenant": tenant]
  }
}

/// The values that a test was shown, in order.
final class Journal: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var lines: [String] = []

  func note(_ line: String) { lock.withLock { lines.append(line) } }

  var entries: [String] { lock.withLock { lines } }
}

/// A transport that answers every request with JSON.
func answering(_ json: String, status: Int = 200, headers: HeaderFields = [:]) -> MockTransport {
  let mock = MockTransport(baseURL: baseURL)
  mock.on(.get, "**").respond(status, jsonText: json, headers: headers)
  mock.on(.post, "**").respond(status, jsonText: json, headers: headers)
  mock.on(.delete, "**").respond(204)
  return mock
}
