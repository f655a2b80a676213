import Foundation

/// Reports calls, sends, bytes and durations to a metrics system.
///
/// | name | what | labels |
/// |---|---|---|
/// | `http_client_calls` | counter: calls that ended | `endpoint`, `outcome` |
/// | `http_client_call_duration` | timer: from the beginning of a call to its end | `endpoint`, `outcome` |
/// | `http_client_sends` | counter: sends, redirects and replays among them | `endpoint` |
/// | `http_client_received_bytes` | counter: bytes of bodies in memory | `endpoint` |
///
/// The outcome is the class of the status, such as `2xx`, the code of the error, `cancelled`, or `error` for an error
/// of another library. The endpoint is method and path template, such as `GET users/{}`.
public struct MetricsBehavior: UniqueBehavior, CallObserver {
  /// Around everything but the user's `.first`.
  public let order = BehaviorOrder.observation
  /// Nothing is held while a request is within `intercept`, so prerequisites pass too.
  public let runsForPrerequisites = true
  private let recorder: any MetricsRecorder
  private let names: Names

  /// Creates a behavior that reports to a recorder.
  ///
  /// - Parameters:
  ///   - recorder: What takes the figures.
  ///   - endpointLimit: How many endpoints are told apart, 200 by default; further ones have the label `(other)`.
  public init(_ recorder: any MetricsRecorder, endpointLimit: Int = 200) {
    self.recorder = recorder
    names = Names(limit: endpointLimit)
  }

  /// Reports the call.
  public func callEnded(_ report: CallReport) {
    let endpoint = MetricLabel("endpoint", names.name(for: report.request))
    let outcome = MetricLabel("outcome", MetricsBehavior.outcome(of: report))
    recorder.add(1, to: "http_client_calls", labels: [endpoint, outcome])
    recorder.record(report.duration, in: "http_client_call_duration", labels: [endpoint, outcome])
    let attempts = report.call.attempts
    if !attempts.isEmpty { recorder.add(attempts.count, to: "http_client_sends", labels: [endpoint]) }
    let bytes = attempts.reduce(0) { $0 + $1.receivedBytes }
    if bytes > 0 { recorder.add(bytes, to: "http_client_received_bytes", labels: [endpoint]) }
  }

  private static func outcome(of report: CallReport) -> String {
    switch report.error {
    case is CancellationError: return "cancelled"
    case let error as NetworkError where error.code != .unacceptableStatus: return error.code.rawValue
    case nil, is NetworkError: return report.response.map { "\($0.statusCode / 100)xx" } ?? "error"
    default: return "error"
    }
  }

  private final class Names: Sendable {
    private let lock = NSLock()
    // Protected by `lock`.
    nonisolated(unsafe) private var names: EndpointNames

    init(limit: Int) { names = EndpointNames(limit: limit) }

    func name(for request: NetworkRequest?) -> String { lock.withLock { names.name(for: request) } }
  }
}

extension Attempt {
  fileprivate var receivedBytes: Int {
    if case .response(_, let bytes?) = outcome { bytes } else { 0 }
  }
}

extension RequestBehavior where Self == MetricsBehavior {
  /// Reports calls to a metrics system; see ``MetricsBehavior``.
  ///
  /// - Parameter recorder: What takes the figures.
  /// - Returns: The behavior.
  public static func metrics(_ recorder: any MetricsRecorder) -> MetricsBehavior { MetricsBehavior(recorder) }
}
