import Foundation

/// Reports attempts and calls to a metrics system, by the names of OpenTelemetry's semantic conventions for HTTP.
///
/// | metric | what |
/// |---|---|
/// | `http.client.request.duration` | histogram, `s`: each attempt, redirects and retries among them |
/// | `http.client.request.body.size` | histogram, `By`: the bodies of attempts whose length is known |
/// | `http.client.response.body.size` | histogram, `By`: bodies of responses, a streamed one if it was read to its end |
/// | `http.client.active_requests` | up-down counter, `{request}`: attempts under way, streamed bodies included |
/// | `request_behaviors.call.duration` | histogram, `s`: each call, from its beginning to its end |
/// | `request_behaviors.call.attempts` | histogram, `{attempt}`: the attempts of each call |
///
/// The attributes of an attempt are `http.request.method`, `server.address`, `server.port`, `url.scheme`,
/// `url.template`, and when it has ended `http.response.status_code` and, unless it succeeded, `error.type`
/// (``NetworkError/errorType``). A call has the method, the template and `error.type`.
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
  ///   - endpointLimit: How many endpoints are told apart, 200 by default; further ones have the template `(other)`.
  public init(_ recorder: any MetricsRecorder, endpointLimit: Int = 200) {
    self.recorder = recorder
    names = Names(limit: endpointLimit)
  }

  /// Counts an attempt that is under way.
  public func attemptStarted(_ request: NetworkRequest) {
    recorder.add(1, to: .activeRequests, attributes: attributes(of: request))
  }

  /// Reports an attempt.
  public func attemptEnded(_ attempt: Attempt, of request: NetworkRequest) {
    var attributes = attributes(of: request)
    recorder.add(-1, to: .activeRequests, attributes: attributes)
    var received: Int?
    if case .response(let statusCode, let bytes) = attempt.outcome {
      attributes.append(MetricAttribute("http.response.status_code", .int(statusCode)))
      received = bytes
    }
    if let type = attempt.errorType {
      attributes.append(MetricAttribute("error.type", .string(type)))
    }
    if let endedAt = attempt.endedAt {
      recorder.record((endedAt - attempt.startedAt).inSeconds, in: .requestDuration, attributes: attributes)
    }
    if let sent = request.body?.length {
      recorder.record(Double(sent), in: .requestBodySize, attributes: attributes)
    }
    if let received { recorder.record(Double(received), in: .responseBodySize, attributes: attributes) }
  }

  /// Reports the call.
  public func callEnded(_ report: CallReport) {
    var attributes = names.attributes(of: report.request)
    if let type = report.errorType { attributes.append(MetricAttribute("error.type", .string(type))) }
    recorder.record(report.duration.inSeconds, in: .callDuration, attributes: attributes)
    recorder.record(Double(report.call.servingAttemptCount), in: .callAttempts, attributes: attributes)
  }

  private func attributes(of request: NetworkRequest) -> [MetricAttribute] {
    var attributes = names.attributes(of: request)
    guard let origin = request.origin else { return attributes }
    attributes += [
      MetricAttribute("server.address", .string(origin.host)), MetricAttribute("server.port", .int(origin.port)),
      MetricAttribute("url.scheme", .string(origin.scheme)),
    ]
    return attributes
  }

  /// The methods and templates of requests, within a limit.
  private final class Names: Sendable {
    private let lock = NSLock()
    // Protected by `lock`.
    nonisolated(unsafe) private var names: EndpointNames

    init(limit: Int) { names = EndpointNames(limit: limit) }

    func attributes(of request: NetworkRequest?) -> [MetricAttribute] {
      let method = request.map { EndpointNames.method($0.method) } ?? "_OTHER"
      let template = lock.withLock { names.template(for: request) }
      return [
        MetricAttribute("http.request.method", .string(method)), MetricAttribute("url.template", .string(template)),
      ]
    }
  }
}

extension Metric {
  /// The boundaries that the conventions give for durations in seconds.
  private static let seconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

  static let requestDuration = Metric("http.client.request.duration", unit: "s", kind: .histogram, buckets: seconds)
  static let requestBodySize = Metric("http.client.request.body.size", unit: "By", kind: .histogram)
  static let responseBodySize = Metric("http.client.response.body.size", unit: "By", kind: .histogram)
  static let activeRequests = Metric("http.client.active_requests", unit: "{request}", kind: .upDownCounter)
  static let callDuration = Metric("request_behaviors.call.duration", unit: "s", kind: .histogram, buckets: seconds)
  static let callAttempts = Metric(
    "request_behaviors.call.attempts", unit: "{attempt}", kind: .histogram, buckets: [0, 1, 2, 3, 5, 10, 20])
}

extension RequestBehavior where Self == MetricsBehavior {
  /// Reports attempts and calls to a metrics system; see ``MetricsBehavior``.
  public static func metrics(_ recorder: any MetricsRecorder) -> MetricsBehavior { MetricsBehavior(recorder) }
}
