extension SimulatedWorld {
  /// A call or an action of the world.
  public final class Activity: @unchecked Sendable {
    // Unchecked, because only the simulation's thread uses it.

    /// Its name.
    public let name: String
    /// How it ended; `nil` while it has not.
    public internal(set) var result: Result<Void, any Error>?
    /// The virtual time at which the simulation cancelled it; `nil` if it did not.
    public internal(set) var cancelledAt: Duration?

    var task: Task<Void, Never>?
    var label = 0
    var jobsBeforeCancellation: Int?
    var endedAt: Duration?

    init(_ name: String) { self.name = name }

    /// Whether it ended without an error.
    public var hasSucceeded: Bool { if case .success? = result { true } else { false } }
    /// The error that it threw.
    public var error: (any Error)? { if case .failure(let error)? = result { error } else { nil } }
  }
}
