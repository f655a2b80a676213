import Foundation
public import RequestBehaviors

/// Returns the hooks that a behavior's type implements itself.
///
/// A hook with a slightly wrong signature compiles, and is never called. One line of a test finds it:
///
/// ```swift
/// let behavior = TenantBehavior(tenant: "a")
/// #expect(await implementedHooks(of: behavior) == [.headers])
/// ```
///
/// Each hook is called once, with a request to `https://example.com/` on a clock that does not wait, in a task that is
/// already cancelled. Its result or error is dropped. `next` does not return a response. Still, pass a behavior that
/// works on test doubles, because a hook that ignores cancellation takes effect.
///
/// A hook that the user's protocol extension or superclass implements counts as the type's own. A `ClosureBehavior`
/// implements all hooks but `scope`, `scopeEnded`, `verifies`, `warnings` and `reset`, whichever closures it has. A
/// `BehaviorGroup` has no hooks; check its members instead.
///
/// - Parameter behavior: The behavior.
/// - Returns: The hooks that are not the defaults.
public func implementedHooks(of behavior: any RequestBehavior) async -> Set<BehaviorHook> {
  let probe = HookProbe()
  let task = Task {
    withUnsafeCurrentTask { $0?.cancel() }
    await HookProbe.$current.withValue(probe) { await callHooks(of: behavior) }
  }
  await task.value
  let type = type(of: behavior)
  return Set(
    BehaviorHook.allCases.filter { hook in
      HookProbe.Hook(rawValue: hook.rawValue).map { !probe.hasDefault($0, of: type) } ?? false
    })
}

private func callHooks(of behavior: any RequestBehavior) async {
  // Each hook is called once. A default notes in the probe that it ran, so the hooks without a note are implemented.
  let mock = MockTransport()
  let call = Call(clock: .immediate)
  var request = NetworkRequest(url: mock.baseURL, call: call)
  let response = NetworkResponse(request: request, statusCode: 200, source: .mock)
  _ = behavior.runsForPrerequisites
  _ = await behavior.scope(for: request)
  await behavior.scopeEnded("")
  _ = behavior.verifies(request)
  let client = NetworkClient(baseURL: mock.baseURL, transport: mock)
  if let pipeline = try? client.pipeline(for: Request<Void>.get("")) { _ = behavior.warnings(in: pipeline) }
  _ = try? await behavior.headers(for: request)
  try? await behavior.modify(&request)
  await behavior.beforeSend(request)
  try? await behavior.afterSuccess(response, for: request)
  await behavior.afterFailure(CancellationError(), for: request)
  if let next = try? Next.toTransport(mock, for: call) { _ = try? await behavior.intercept(request, next: next) }
  await behavior.reset()
}
