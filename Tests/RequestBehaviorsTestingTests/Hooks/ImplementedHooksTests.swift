import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct ImplementedHooksTests {
  @Test func `a behavior without hooks has no implemented hooks`() async {
    struct Nothing: RequestBehavior {}
    #expect(await implementedHooks(of: Nothing()).isEmpty)
  }

  @Test func `every hook is found that a type implements`() async {
    struct All: RequestBehavior {
      let runsForPrerequisites = true
      func verifies(_ request: NetworkRequest) -> Bool { true }
      func warnings(in pipeline: Pipeline) -> [String] { [] }
      func scopeEnded(_ scope: String) async {}
      var order: BehaviorOrder { .first }
      func headers(for request: NetworkRequest) async throws -> HeaderFields { [:] }
      func modify(_ request: inout NetworkRequest) async throws {}
      func beforeSend(_ request: NetworkRequest) async {}
      func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws {}
      func afterFailure(_ error: any Error, for request: NetworkRequest) async {}
      func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse { try await next(request) }
      func scope(for request: NetworkRequest) async -> String? { nil }
      func reset() async {}
    }
    #expect(await implementedHooks(of: All()) == Set(BehaviorHook.allCases))
  }

  @Test func `a near miss of a signature is not found`() async {
    struct NearMiss: RequestBehavior {
      let order = BehaviorOrder.last
      func headers(of request: NetworkRequest) async throws -> HeaderFields { [:] }
      func modify(_ request: NetworkRequest) async throws {}
      func afterSuccess(_ response: NetworkResponse, for request: Request<String>) async throws {}
      func reset() async throws {}
    }
    #expect(await implementedHooks(of: NearMiss()) == [])
  }

  @Test func `a call to another behavior's default hook does not count`() async {
    struct Wrapper: RequestBehavior {
      let inner = EmptyBehavior()
      func headers(for request: NetworkRequest) async throws -> HeaderFields { try await inner.headers(for: request) }
      func reset() async { await inner.reset() }
    }
    #expect(await implementedHooks(of: Wrapper()) == [.headers, .reset])
  }

  @Test func `generic types and classes are inspected like other types`() async {
    struct Generic<Value: Sendable>: RequestBehavior {
      let value: Value
      func scope(for request: NetworkRequest) -> String? { "\(value)" }
    }
    // Unchecked because a class that can be subclassed cannot be checked; it has no state.
    class Base: RequestBehavior, @unchecked Sendable {
      func beforeSend(_ request: NetworkRequest) async {}
    }
    // Unchecked like its superclass; it has no state.
    final class Derived: Base, @unchecked Sendable {
      // Not called: the conformance is the superclass's, which left this hook to the default.
      func reset() async {}
    }
    #expect(await implementedHooks(of: Generic(value: 1)) == [.scope])
    #expect(await implementedHooks(of: Generic(value: "a")) == [.scope])
    #expect(await implementedHooks(of: Base()) == [.beforeSend])
    #expect(await implementedHooks(of: Derived()) == [.beforeSend])
  }

  @Test func `a hook that waits or throws is found too`() async {
    struct Waiting: RequestBehavior {
      func headers(for request: NetworkRequest) async throws -> HeaderFields {
        try await request.call.clock.sleep(for: .seconds(3_600))
        return [:]
      }

      func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        throw NetworkError(.timedOut, "always")
      }
    }
    #expect(await implementedHooks(of: Waiting()) == [.headers, .intercept])
  }

  @Test func `the behaviors of the library implement the hooks that they declare`() async {
    #expect(await implementedHooks(of: EmptyBehavior()) == [])
    #expect(
      await implementedHooks(of: ClosureBehavior())
        == [.headers, .modify, .beforeSend, .afterSuccess, .afterFailure, .intercept])
  }

  private struct Idle: ActivityIndicator, BackgroundTaskRunner {
    func setActive(_ isActive: Bool) {}

    func beginTask(named name: String, expiration: @escaping @MainActor @Sendable () -> Void) -> BackgroundTaskID? {
      nil
    }

    func endTask(_ id: BackgroundTaskID) {}
  }

  @Test func `a behavior that also intercepts prerequisites implements the property`() async {
    #expect(await implementedHooks(of: RedirectsBehavior()) == [.intercept, .runsForPrerequisites])
  }
}
