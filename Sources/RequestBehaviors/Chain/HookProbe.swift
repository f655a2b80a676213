import Foundation

/// A record of the hooks of a behavior that are defaults: each default notes itself in the probe of its task.
///
/// A hook that a type implements itself notes nothing. Probes are used in the checks of tests and for the first request
/// of a type.
package final class HookProbe: Sendable {
  /// A member of ``RequestBehavior`` that has a default.
  package enum Hook: String, Sendable {
    case headers, modify, beforeSend, afterSuccess, afterFailure, intercept, runsForPrerequisites
    case scope, scopeEnded, verifies, warnings, reset
  }

  /// The probe of the current task; `nil` if there is no probe.
  @TaskLocal package static var current: HookProbe?

  private struct Note: Hashable {
    let hook: Hook
    let type: ObjectIdentifier
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var notes: Set<Note> = []

  /// Creates an empty probe.
  package init() {}

  /// Records that the default of a type's hook ran.
  package func note(_ hook: Hook, of type: Any.Type) {
    lock.withLock { _ = notes.insert(Note(hook: hook, type: ObjectIdentifier(type))) }
  }

  /// Returns whether the default of a type's hook ran.
  package func hasDefault(_ hook: Hook, of type: Any.Type) -> Bool {
    lock.withLock { notes.contains(Note(hook: hook, type: ObjectIdentifier(type))) }
  }
}

extension Next {
  /// Returns a `next` for calling a single behavior's `intercept`; it leads straight to the transport.
  package static func toTransport(_ transport: any Transport, for call: Call) throws -> Next {
    let pipeline = try Pipeline([(.request, [EmptyBehavior()])])
    let chain = Chain(pipeline, transport: transport, configuration: RequestConfiguration(), lifetime: ClientLifetime())
    let run = ChainRun(chain, call)
    let request = NetworkRequest(url: URL(filePath: "/"), call: call)
    return Next(run: run, index: 0, step: run.beginStep(), original: request)
  }
}
