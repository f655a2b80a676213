import Foundation

/// Statistics of the durations of calls per endpoint, for a ``TimingBehavior``.
///
/// ```swift
/// let timings = LatencyStatistics()
/// let client = NetworkClient(
///   baseURL: baseURL, behaviors: [.timing(timings)])
/// // … later
/// print(timings)
/// // endpoint      calls  failed      p50       p95       p99       max
/// // GET users/{}    128       2  41.0 ms  112.6 ms  130.0 ms  131.2 ms
/// ```
///
/// Its memory is limited: about 4 KiB for each endpoint up to the limit. Further endpoints share one entry.
public final class LatencyStatistics: Sendable {
  /// The statistics of one endpoint.
  public struct Endpoint: Sendable {
    /// The method and path template, such as `GET users/{}`.
    public let name: String
    /// The number of failed calls, without cancelled ones.
    public fileprivate(set) var failures = 0
    /// The durations of all calls that were not cancelled.
    public fileprivate(set) var durations = DurationHistogram()
  }

  private let limit: Int
  private let lock = NSLock()
  // Both protected by `lock`.
  nonisolated(unsafe) private var names: EndpointNames
  nonisolated(unsafe) private var measured: [String: Endpoint] = [:]

  /// Creates an empty collection.
  ///
  /// - Parameter limit: The number of endpoints with an entry of their own; 200 by default.
  public init(limit: Int = 200) {
    self.limit = limit
    names = EndpointNames(limit: limit)
  }

  /// The statistics so far; the endpoint with the largest total duration is first.
  public var endpoints: [Endpoint] {
    lock.withLock { Array(measured.values) }
      .sorted { ($1.durations.total, $0.name) < ($0.durations.total, $1.name) }
  }

  /// Removes all statistics; later endpoints have entries of their own again.
  public func reset() {
    lock.withLock {
      measured = [:]
      names = EndpointNames(limit: limit)
    }
  }

  func record(_ report: CallReport) {
    guard !(report.error is CancellationError) else { return }
    lock.withLock {
      let name = names.name(for: report.request)
      measured[name, default: Endpoint(name: name)].durations.record(report.duration)
      if report.error != nil { measured[name]?.failures += 1 }
    }
  }
}

extension LatencyStatistics: CustomStringConvertible {
  /// A table of the endpoints: calls, failures, and percentiles.
  public var description: String {
    let head = ["endpoint", "calls", "failed", "p50", "p95", "p99", "max"]
    let rows = [head] + endpoints.map(\.cells)
    let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).enumerated().map { index, cell in
        let padding = String(repeating: " ", count: cell.1 - cell.0.count)
        return index == 0 ? cell.0 + padding : padding + cell.0
      }
      return cells.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}

extension LatencyStatistics.Endpoint {
  fileprivate var cells: [String] {
    let percentiles = [50, 95, 99].map { durations.percentile($0) } + [durations.maximum]
    return [LogText.escapingControls(name), "\(durations.count)", "\(failures)"]
      + percentiles.map { "\(LogText.milliseconds($0)) ms" }
  }
}
