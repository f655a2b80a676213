import Foundation

/// Keeps what a client did lately, for a look at it or for a bug report.
///
/// ```swift
/// let recorder = CallRecorder()
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [.recording(recorder), .retry()])
/// try recorder.recording.waterfall().write(to: page)
/// try recorder.recording.har().write(to: harFile)
/// ```
///
/// It keeps facts and header fields within its ``RecordingLimits``, and no request, response or body unless it is asked
/// for bodies. Secrets are hidden when ``recording`` is read: by the rules of the redactor, and every value that one of
/// the calls knows to be secret wherever it appears.
///
/// The secrets of a call that a limit has dropped are no longer known: a later body that repeats one under a plain name
/// shows it.
///
/// The calls of a user are dropped when the user signs out (``CallOwner``), with those that were made for them. The
/// calls of others stay, and those without an owner, such as the sign-in itself; the secrets of dropped calls are
/// hidden in them. ``clear()`` drops all, and so does ``NetworkClient/reset()``.
///
/// A recorder may be shared by several clients. Their calls have one time line if their clocks agree.
public final class CallRecorder: Sendable {
  /// The bounds of what is kept.
  public let limits: RecordingLimits
  /// Whether bodies are kept.
  public let bodies: RecordedBodies
  let redactor: Redactor
  let state = Locked(StoredCalls())

  /// Creates an empty recorder.
  ///
  /// - Parameters:
  ///   - limits: The bounds of what is kept; 500 calls and 4 MiB by default.
  ///   - bodies: Whether bodies are kept; by default they are not.
  ///   - redactor: Decides what may be shown.
  public init(
    limits: RecordingLimits = RecordingLimits(), bodies: RecordedBodies = .none, redactor: Redactor = .standard
  ) {
    self.limits = limits
    self.bodies = bodies
    self.redactor = redactor
  }

  /// The calls so far; those that are under way are marked so.
  ///
  /// It takes a few milliseconds for hundreds of calls, because secrets are searched for in all of them.
  public var recording: Recording {
    RecordingExport(presentCalls, redactor: redactor, bodyLimit: bodies.limit).recording()
  }

  /// The calls but for those of users who have signed out.
  private var presentCalls: StoredCalls {
    // Asked here too, because the client that told of a sign-out may no longer list the behavior.
    state.withLock { state in
      state.dropCallsOfFormerUsers(redactor)
      return state
    }
  }

  /// Lets go of the calls of users who have signed out, but for those under way.
  func dropCallsOfFormerUsers() {
    state.withLock { $0.dropCallsOfFormerUsers(redactor, keepsCallsUnderWay: true) }
  }

  /// Forgets all calls; what those under way do from then on is not kept.
  public func clear() { state.withLock { $0 = StoredCalls() } }
}

extension CallRecorder: CustomReflectable {
  /// A mirror without children: what is kept is not redacted.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension RequestBehavior where Self == RecordingBehavior {
  /// Keeps what the client does; see ``RecordingBehavior``.
  public static func recording(_ recorder: CallRecorder) -> RecordingBehavior { RecordingBehavior(recorder) }
}
