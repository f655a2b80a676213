import Foundation

extension RequestBehavior {
  /// Whether the type implements ``RequestBehavior/scope(for:)`` itself.
  ///
  /// Until a request of the process has called the hook, each evaluation calls it, with a request that has no host.
  /// Systems older than 2024 cannot call it synchronously; the property is `true` there until then.
  var hasOwnScope: Bool {
    // A session's would read its token store.
    if self is any AccountKnowing { return true }
    let knowledge = LearnedHooks.shared.knowledge(of: self)
    if knowledge.known.contains(.scope), !(self is ClosureBehavior) { return knowledge.toCall.contains(.scope) }
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return true }
    let probe = HookProbe()
    let request = NetworkRequest(url: URL(filePath: "/"))
    // The default does not suspend, so it has run when the task is created.
    Task(executorPreference: InlineExecutor()) {
      await HookProbe.$current.withValue(probe) { _ = await self.scope(for: request) }
    }
    return !probe.hasDefault(.scope, of: type(of: self))
  }
}

extension Pipeline.Entry {
  /// Whether the behavior adds credentials, judged by its type and its place.
  var addsCredentials: Bool {
    !isProof && (credential != nil || [.authentication, .signing].contains(order.standard))
  }
}

/// An executor that runs the jobs of a task immediately, on the thread that enqueues them.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}
