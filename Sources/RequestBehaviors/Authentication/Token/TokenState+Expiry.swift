/// Decides when the token is refreshed, and when it has expired.
extension TokenState {
  struct Expiry: Sendable {
    let refreshAt: Duration
    let expiresAt: Duration
  }

  /// The token, if it can be sent as it is and no refresh is under way.
  func usable(now: Duration) -> IssuedToken? {
    guard refresh == nil else { return nil }
    if let expiry, now >= expiry.refreshAt { return nil }
    return issued
  }

  /// The token, if it has not expired, even if it is time to refresh it.
  func unexpired(now: Duration) -> IssuedToken? {
    if let expiry, now >= expiry.expiresAt { return nil }
    return issued
  }

  mutating func setExpiry(
    forLifetime lifetime: Duration?, now: Duration, remaining: Duration?, trustsClock: Bool
  ) {
    expiry = nil
    guard let remaining, trustsClock || remaining > .zero else { return }
    let leeway = policy.leeway(forLifetime: lifetime ?? remaining)
    expiry = Expiry(refreshAt: now + remaining - leeway, expiresAt: now + remaining)
  }

  /// Measures the expiry of the token that was brought or stored on another clock.
  ///
  /// - Parameters:
  ///   - clock: The clock, which the session goes by from now on.
  ///   - now: The time on the clock that it went by.
  mutating func follow(_ clock: RequestClock, now: Duration) {
    guard let token, let arrival else { return }
    let date = clock.date()
    var remaining = arrival.token.remaining(at: date)
    if arrival.token.expiresAt == nil { remaining = remaining.map { $0 - (now - arrival.at) } }
    let lifetime = arrival.token.received(at: date).lifetime ?? token.lifetime
    setExpiry(forLifetime: lifetime, now: clock.now(), remaining: remaining, trustsClock: true)
  }
}
