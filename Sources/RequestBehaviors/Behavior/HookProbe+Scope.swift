import Foundation

extension RequestBehavior {
  /// Whether the type implements ``RequestBehavior/scope(for:)`` itself.
  ///
  /// The hook is called once, with a request to nowhere. Systems older than 2024 cannot call it without waiting; there
  /// it is known only when a request of the process has called the hook, and counts as implemented until then.
  var hasOwnScope: Bool {
    let knowledge = LearnedHooks.shared.knowledge(of: self)
    if knowledge.known.contains(.scope), !(self is ClosureBehavior) { return knowledge.toCall.contains(.scope) }
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return true }
    let probe = HookProbe()
    let request = NetworkRequest(url: URL(filePath: "/"))
    // The default does not wait, so it has run when the task is made.
    Task(executorPreference: InlineExecutor()) {
      await HookProbe.$current.withValue(probe) { _ = await self.scope(for: request) }
    }
    return !probe.hasDefault(.scope, of: type(of: self))
  }
}

extension Pipeline.Entry {
  /// Whether the behavior adds credentials, as its type or its place tells.
  var addsCredentials: Bool { credential != nil || [.authentication, .signing].contains(order.standard) }
}

/// Runs the jobs of a task at once, where they are handed over.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}
