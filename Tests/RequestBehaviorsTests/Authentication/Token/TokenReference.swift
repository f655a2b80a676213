/// The expected behavior of a session, derived only from the list of events: slow, but simple enough to trust.
struct TokenReference {
  enum Entry {
    case asked(at: Int)
    case token(serial: Int, at: Int, lifetime: Int?, endsFlight: Bool)
    case signedIn(serial: Int, at: Int, lifetime: Int)
    case signedOut
    case failed
    /// No request was sent: a behavior refused it.
    case failedUnasked
    /// The waiting calls have left without a token, before the response.
    case gaveUp
    /// The waiting calls have left with a token of another process, before the response.
    case overdue
    case signedInElsewhere(serial: Int, at: Int, lifetime: Int)
  }

  enum Expected: Equatable {
    case use(Int)
    case wait, start, fail, stand
  }

  private(set) var log: [Entry] = []

  mutating func note(_ entry: Entry) { log.append(entry) }

  var current: (serial: Int, at: Int, lifetime: Int?)? {
    for entry in log.reversed() {
      switch entry {
      case .token(let serial, let at, let lifetime, _): return (serial, at, lifetime)
      case .signedIn(let serial, let at, let lifetime), .signedInElsewhere(let serial, let at, let lifetime):
        return (serial, at, lifetime)
      case .signedOut: return nil
      case .asked, .failed, .failedUnasked, .gaveUp, .overdue: continue
      }
    }
    return nil
  }

  var isAsking: Bool {
    for entry in log.reversed() {
      switch entry {
      case .asked: return true
      case .token(_, _, _, let endsFlight): if endsFlight { return false }
      case .signedIn, .signedInElsewhere, .signedOut, .failed, .failedUnasked: return false
      case .gaveUp, .overdue: continue
      }
    }
    return false
  }

  /// Whether the calls that waited for the request under way have left.
  var isOverdue: Bool {
    for entry in log.reversed() {
      switch entry {
      case .gaveUp, .overdue: return isAsking
      case .asked: return false
      case .token, .signedIn, .signedInElsewhere, .signedOut, .failed, .failedUnasked: continue
      }
    }
    return false
  }

  /// Leeway is 60 s or a tenth of the lifetime.
  func isFresh(at now: Int) -> Bool {
    guard let current else { return false }
    return current.lifetime.map { now < current.at + $0 - min(60, $0 / 10) } ?? true
  }

  func isUnexpired(at now: Int) -> Bool {
    guard let current else { return false }
    return current.lifetime.map { now < current.at + $0 } ?? true
  }

  func acquire(at now: Int, arrival: Int) -> Expected {
    if isAsking, !isOverdue { return .wait }
    let spare = current.flatMap { isUnexpired(at: now) ? Expected.use($0.serial) : nil }
    if isAsking { return spare ?? (hasFailed(since: arrival) ? .fail : .wait) }
    if let current, isFresh(at: now) { return .use(current.serial) }
    if hasFailed(since: arrival) { return spare ?? .fail }
    if mayAsk(at: now) { return .start }
    return current.map { .use($0.serial) } ?? .fail
  }

  func renew(_ serial: Int, leasedAt: Int, at now: Int, arrival: Int) -> Expected {
    let hasChangedUser = log[leasedAt...].contains { entry in
      switch entry {
      case .signedIn, .signedInElsewhere, .signedOut: true
      case .asked, .token, .failed, .failedUnasked, .gaveUp, .overdue: false
      }
    }
    guard !hasChangedUser, let current else { return .stand }
    if current.serial != serial { return acquire(at: now, arrival: arrival) }
    if isAsking, !isOverdue { return .wait }
    if hasFailed(since: arrival) { return .fail }
    if isAsking { return .wait }
    return mayAsk(at: now) ? .start : .stand
  }

  private func hasFailed(since arrival: Int) -> Bool {
    for (index, entry) in log.enumerated().reversed() {
      switch entry {
      case .failed, .failedUnasked, .gaveUp: return index >= arrival
      case .token, .signedIn, .signedInElsewhere, .signedOut: return false
      case .asked, .overdue: continue
      }
    }
    return false
  }

  private func mayAsk(at now: Int) -> Bool {
    var times: [Int] = []
    for entry in log {
      switch entry {
      case .asked(let at): times.append(at)
      case .failedUnasked: times.removeLast()
      case .signedIn: times = []
      case .token, .signedInElsewhere, .signedOut, .failed, .gaveUp, .overdue: continue
      }
    }
    return times.count { now - $0 < 30 } < 5
  }
}
