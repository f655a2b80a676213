import RequestBehaviors
import TestSupport

/// A behavior that notes each hook in a journal, and throws in the configured ones.
struct JournalBehavior: RequestBehavior {
  enum Hook: String, CaseIterable, Sendable {
    case interceptBefore, headers, modify, afterSuccess, interceptAfter
  }

  let name: String
  let journal: Journal
  var order: BehaviorOrder = .middle
  var failing: Hook?
  var action: (@Sendable (Hook) async -> Void)?

  private func pass(_ hook: Hook) async throws {
    journal.note("\(name).\(hook.rawValue)")
    await action?(hook)
    if failing == hook { throw Failure("\(name).\(hook.rawValue)") }
  }

  func headers(for request: NetworkRequest) async throws -> HeaderFields {
    try await pass(.headers)
    return [:]
  }

  func modify(_ request: inout NetworkRequest) async throws { try await pass(.modify) }

  func beforeSend(_ request: NetworkRequest) async { journal.note("\(name).beforeSend") }

  func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws {
    try await pass(.afterSuccess)
  }

  func afterFailure(_ error: any Error, for request: NetworkRequest) async { journal.note("\(name).afterFailure") }

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    try await pass(.interceptBefore)
    let response = try await next(request)
    try await pass(.interceptAfter)
    return response
  }
}
