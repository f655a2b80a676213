/// The durations and failures of the latest requests to each origin.
///
/// Hedging uses them to decide whether and when to send a second request.
///
/// It remembers 256 origins. Beyond that it drops the origin that was used least recently.
public final class LatencyHistory: Sendable {
  private static let originLimit = 256

  private struct Origin: Sendable {
    var samples = LatencySamples()
    var signs = OverloadSigns()
    var lastUse: UInt64 = 0
  }

  private struct Table: Sendable {
    var origins: [LimitKey: Origin] = [:]
    var lastUse: UInt64 = 0

    mutating func change<Result>(_ key: LimitKey, _ change: (inout Origin) -> Result) -> Result {
      if origins[key] == nil, origins.count >= LatencyHistory.originLimit,
        let oldest = origins.min(by: { $0.value.lastUse < $1.value.lastUse })
      {
        origins[oldest.key] = nil
      }
      lastUse += 1
      origins[key, default: Origin()].lastUse = lastUse
      return change(&origins[key, default: Origin()])
    }
  }

  private let table = Locked(Table())

  /// Creates an empty history.
  public init() {}

  func add(_ duration: Duration, of key: LimitKey) { table.withLock { $0.change(key) { $0.samples.add(duration) } } }

  func percentile(_ share: Double, of key: LimitKey) -> Duration? {
    table.withLock { $0.origins[key]?.samples.percentile(share) }
  }

  /// Reads or changes the overload signs of an origin.
  func signs<Result>(of key: LimitKey, _ change: (inout OverloadSigns) -> Result) -> Result {
    table.withLock { $0.change(key) { change(&$0.signs) } }
  }

  /// Clears the history.
  public func reset() { table.withLock { $0.origins = [:] } }
}
