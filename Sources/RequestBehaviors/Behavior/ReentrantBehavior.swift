/// A behavior of the library that holds nothing while a request is within its `intercept`.
///
/// A prerequisite request, such as one for a token, may pass it although the request that needs it is within it too.
protocol ReentrantBehavior: RequestBehavior {}

/// A behavior without its `intercept`, which may hold what a prerequisite request would wait for.
struct HooksOnlyBehavior: CallObserver {
  let order: BehaviorOrder
  let base: any RequestBehavior

  init(_ base: any RequestBehavior) {
    self.base = base
    order = base.order
  }

  func headers(for request: NetworkRequest) async throws -> HTTPHeaders { try await base.headers(for: request) }

  func modify(_ request: inout NetworkRequest) async throws { try await base.modify(&request) }

  func beforeSend(_ request: NetworkRequest) async { await base.beforeSend(request) }

  func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws {
    try await base.afterSuccess(response, for: request)
  }

  func afterFailure(_ error: any Error, for request: NetworkRequest) async {
    await base.afterFailure(error, for: request)
  }

  func scope(for request: NetworkRequest) -> String? { base.scope(for: request) }

  func callEnded(_ report: CallReport) { (base as? any CallObserver)?.callEnded(report) }
}
