/// Reports attempts and calls to a metrics system, with the names of OpenTelemetry's semantic conventions for HTTP.
///
/// | metric | meaning |
/// |---|---|
/// | `http.client.request.duration` | histogram, `s`: each attempt, including redirects and retries |
/// | `http.client.request.body.size` | histogram, `By`: the bodies of attempts whose length is known |
/// | `http.client.response.body.size` | histogram, `By`: bodies of responses; a streamed one if read to its end |
/// | `http.client.active_requests` | up-down counter, `{request}`: attempts under way, including streamed bodies |
/// | `request_behaviors.call.duration` | histogram, `s`: each call, from its start to its end |
/// | `request_behaviors.call.attempts` | histogram, `{attempt}`: the attempts of each call |
///
/// The attributes of an attempt are `http.request.method`, `server.address`, `server.port`, `url.scheme` and
/// `url.template`. An ended attempt also has `http.response.status_code` if there was a response, and `error.type`
/// (``NetworkError/errorType``) unless it succeeded. A call has the method, the template and `error.type`.
public struct MetricsBehavior: UniqueBehavior, CallObserver {
  /// Around all behaviors except the user's `.first`.
  public let order = BehaviorOrder.observation
  /// `true`, because `intercept` holds nothing that a prerequisite could wait for.
  public let runsForPrerequisites = true
  private let recorder: any MetricsRecorder
  private let names: Names

  /// Creates a behavior that reports to a recorder.
  ///
  /// - Parameters:
  ///   - recorder: The recorder of the values.
  ///   - endpointLimit: The number of endpoints with a template of their own, 200 by default; others have the template
  ///     `(other)`.
  public init(_ recorder: any MetricsRecorder, endpointLimit: Int = 200) {
    self.recorder = recorder
    names = Names(limit: endpointLimit)
  }

  /// Counts an attempt under way.
  public func attemptStarted(_ request: NetworkRequest) {
    recorder.add(1, to: .activeRequests, attributes: attributes(of: request))
  }

  /// Reports an attempt.
  public func attemptEnded(_ attempt: Attempt, of request: NetworkRequest) {
    var attributes = attributes(of: request)
    // The counter goes down with the attributes with which it went up, before those of the outcome are added.
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

  /// The methods and templates of requests; the number of templates is limited.
  private struct Names: Sendable {
    private let names: Locked<EndpointNames>

    init(limit: Int) { names = Locked(EndpointNames(limit: limit)) }

    func attributes(of request: NetworkRequest?) -> [MetricAttribute] {
      let method = request.map { EndpointNames.method($0.method) } ?? "_OTHER"
      let template = names.withLock { $0.template(for: request) }
      return [
        MetricAttribute("http.request.method", .string(method)), MetricAttribute("url.template", .string(template)),
      ]
    }
  }
}

extension Metric {
  /// The bucket boundaries of the conventions for durations in seconds.
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
