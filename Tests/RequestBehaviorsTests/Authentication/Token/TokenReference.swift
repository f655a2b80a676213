/// What a session should do, told from nothing but the list of what has happened: slow, and simple enough to believe.
struct TokenReference {
  enum Entry {
    case asked(at: Int)
    case token(serial: Int, at: Int, lifetime: Int?, endsFlight: Bool)
    case signedIn(serial: Int, at: Int, lifetime: Int)
    case signedOut
    case failed
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
      case .signedIn(let serial, let at, let lifetime): return (serial, at, lifetime)
      case .signedOut: return nil
      case .asked, .failed: continue
      }
    }
    return nil
  }

  var isAsking: Bool {
    for entry in log.reversed() {
      switch entry {
      case .asked: return true
      case .token(_, _, _, let endsFlight): if endsFlight { return false }
      case .signedIn, .signedOut, .failed: return false
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
    if isAsking { return .wait }
    if let current, isFresh(at: now) { return .use(current.serial) }
    if hasFailed(since: arrival) { return current.flatMap { isUnexpired(at: now) ? .use($0.serial) : nil } ?? .fail }
    if mayAsk(at: now) { return .start }
    return current.map { .use($0.serial) } ?? .fail
  }

  func renew(_ serial: Int, leasedAt: Int, at now: Int, arrival: Int) -> Expected {
    let hasChangedUser = log[leasedAt...].contains { entry in
      switch entry {
      case .signedIn, .signedOut: true
      case .asked, .token, .failed: false
      }
    }
    guard !hasChangedUser, let current else { return .stand }
    if current.serial != serial { return acquire(at: now, arrival: arrival) }
    if isAsking { return .wait }
    if hasFailed(since: arrival) { return .fail }
    return mayAsk(at: now) ? .start : .stand
  }

  private func hasFailed(since arrival: Int) -> Bool {
    for (index, entry) in log.enumerated().reversed() {
      switch entry {
      case .failed: return index >= arrival
      case .token, .signedIn, .signedOut: return false
      case .asked: continue
      }
    }
    return false
  }

  private func mayAsk(at now: Int) -> Bool {
    log.count { if case .asked(let at) = $0 { now - at < 30 } else { false } } < 5
  }
}
