public import RequestBehaviors

/// The settings of an ``Outbox``.
public struct OutboxConfiguration: Sendable {
  /// The treatment of a user's entries when the user signs out.
  public enum SignOut: Sendable, Hashable {
    /// They wait until the same account signs in again.
    ///
    /// Where the session names no account (`signIn(_:)` instead of `signIn(_:as:)`) that cannot happen, and they become
    /// dead letters. So do those of an account that has been away for 30 days.
    case hold
    /// They are removed, dead letters too, and overwritten in the file.
    ///
    /// The user may have left while no outbox was open. So the outbox looks for such entries when it is opened, when a
    /// user signs in or out, and once an hour while it sends. What fails is done again before the account can enqueue
    /// or send. Entries of a session that keeps its token in memory (`InMemoryTokenStore`) stay after a launch until a
    /// user signs in or out, and at most for 30 days. Entries of a session that the client does not list are held.
    case discard
  }

  /// The treatment of a lane whose first entry becomes a dead letter.
  public enum LaneFailure: Sendable, Hashable {
    /// The entries behind it wait until it is put back or discarded.
    case stops
    /// The next entry is sent.
    case goesOn
  }

  /// The proof that a response comes from the server; ``OutboxTrust/verified`` by default.
  public var trust: OutboxTrust

  /// The treatment of a user's entries when the user signs out; held by default.
  public var atSignOut: SignOut

  /// The treatment of a lane whose first entry becomes a dead letter; it stops by default.
  public var lanes: LaneFailure

  /// The number of requests that are sent at a time; 4 by default, at least 1.
  ///
  /// Half as many further entries are claimed ahead, and count as ``OutboxState/sending``. Their requests begin as soon
  /// as others have responses, while those are written to the file.
  public var concurrency: Int

  /// The waits between the attempts of an entry that the server refuses for now, or whose response was lost; from 1
  /// second to 10 minutes by default.
  public var backoff: Backoff

  /// The longest wait that a server can ask for; a day by default.
  public var longestServerDelay: Duration

  /// The time after which an entry that the server keeps refusing for now becomes a dead letter; 7 days by default.
  ///
  /// It begins with the first such response. A 401 to an entry of no session is one. A bad network never makes a dead
  /// letter.
  public var patience: Duration

  /// The time for which the ID and the identity of a delivered entry are remembered; a day by default.
  public var remembersDelivered: Duration

  /// The interval at which the queue looks for entries of other processes, and for the end of another process that
  /// sends; 1 second by default.
  ///
  /// While a task waits for a value or the states of an entry, deliveries of other processes are looked for as often,
  /// unless the store has an interval of its own, ``SQLiteConfiguration/changePollInterval``.
  public var pollInterval: Duration

  /// Origins that the client's base URL had before, whose entries are sent to the new one; none by default.
  ///
  /// Entries of any other origin are held.
  public var formerOrigins: [Origin]

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - trust: Which responses deliver an entry; ``OutboxTrust/verified`` by default.
  ///   - atSignOut: What happens to the entries of a user who signs out; they are held by default.
  ///   - lanes: What the failure of an entry means for its lane; the lane stops by default.
  ///   - concurrency: How many entries are sent at a time; 4 by default.
  ///   - backoff: The waits before an entry is tried again; from 1 second to 10 minutes by default.
  ///   - longestServerDelay: The longest wait that a server may ask for; a day by default.
  ///   - patience: How long an entry is tried; 7 days by default.
  ///   - remembersDelivered: How long a delivered entry is remembered; a day by default.
  ///   - pollInterval: How often the file is looked at for the work of other processes; every second by default.
  ///   - formerOrigins: Origins that the base URL had before; none by default.
  public init(
    trust: OutboxTrust = .verified, atSignOut: SignOut = .hold, lanes: LaneFailure = .stops, concurrency: Int = 4,
    backoff: Backoff = Backoff(base: .seconds(1), cap: .seconds(600)),
    longestServerDelay: Duration = .seconds(86_400), patience: Duration = .seconds(7 * 86_400),
    remembersDelivered: Duration = .seconds(86_400), pollInterval: Duration = .seconds(1),
    formerOrigins: [Origin] = []
  ) {
    self.trust = trust
    self.atSignOut = atSignOut
    self.lanes = lanes
    self.concurrency = concurrency
    self.backoff = backoff
    self.longestServerDelay = longestServerDelay
    self.patience = patience
    self.remembersDelivered = remembersDelivered
    self.pollInterval = pollInterval
    self.formerOrigins = formerOrigins
  }
}
