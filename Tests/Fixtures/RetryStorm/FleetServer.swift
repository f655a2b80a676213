/// What goes wrong with a simulated server for a minute.
enum Outage: String, CaseIterable {
  /// It responds 503 at once.
  case fails
  /// It takes requests and never responds to them.
  case hangs
  /// It works at a fifth of its speed.
  case slow
}

/// A server that works on one request after the other, a third faster than its clients usually want.
///
/// It does not know which clients have stopped waiting, so it works on their requests too. What it could not begin within
/// a second it refuses with a 503.
struct FleetServer {
  /// What becomes of a request.
  enum Admission {
    case refused
    case lost
    /// It waits for its turn; the server was idle before, and works from now on.
    case begun
    /// It waits for its turn.
    case waits
  }

  /// How many requests it works on in a second.
  private let capacity: Double
  private var queue: [Int] = []
  private var done = 0
  /// What is wrong; `nil` for nothing.
  private(set) var outage: Outage?

  /// Creates a server that is well.
  ///
  /// - Parameter load: How many calls its clients make in a second.
  init(load: Double) { capacity = load * 1.3 }

  /// The time that it takes for a request, in seconds.
  var workTime: Double { (outage == .slow ? 5 : 1) / capacity }

  /// Begins or ends an outage.
  mutating func change(to outage: Outage?) {
    // What was sent to a server that hangs is lost.
    if self.outage == .hangs || outage == .hangs { (queue, done) = ([], 0) }
    self.outage = outage
  }

  /// Takes a request.
  mutating func admit(_ send: Int) -> Admission {
    switch outage {
    case .fails: return .refused
    case .hangs: return .lost
    case .slow, nil: break
    }
    guard Double(queue.count - done) < capacity else { return .refused }
    queue.append(send)
    return queue.count - done == 1 ? .begun : .waits
  }

  /// Ends the work on the request that it works on.
  ///
  /// - Returns: The request, and whether there is another one to work on.
  mutating func finish() -> (send: Int, hasMore: Bool)? {
    guard done < queue.count else { return nil }
    let send = queue[done]
    done += 1
    guard done == queue.count else { return (send, true) }
    (queue, done) = ([], 0)
    return (send, false)
  }
}
