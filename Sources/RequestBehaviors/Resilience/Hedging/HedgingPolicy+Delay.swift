/// Decides whether and when a request is sent a second time.
extension HedgingPolicy {
  /// Returns whether a request may be sent a second time, whatever the policy.
  static func permits(_ request: NetworkRequest) -> Bool {
    // A one-shot body looks replayable until it is sent.
    if case .oneShot? = request.body?.content { return false }
    return [.get, .head].contains(request.method) || request.hasIdempotencyKey
  }

  /// Returns how long to wait for the first response; `nil` if too little is known of the origin.
  func delay(_ history: LatencyHistory, of key: LimitKey) -> Duration? {
    switch delay {
    case .fixed(let delay): delay
    case .percentile(let share): history.percentile(share, of: key)
    }
  }
}
