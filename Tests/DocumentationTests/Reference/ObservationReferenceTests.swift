import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

#if !canImport(UIKit) || os(watchOS)
  /// Stands for the type of that name that the library has where there is a `UIApplication`.
  private struct UIKitBackgroundTasks: BackgroundTaskRunner {
    func beginTask(named name: String, expiration: @escaping @MainActor @Sendable () -> Void) -> BackgroundTaskID? {
      nil
    }

    func endTask(_ id: BackgroundTaskID) {}
  }
#endif

private struct Spinner: ActivityIndicator {
  func setActive(_ isActive: Bool) {}
}

/// The samples in the reference of observation.
@Suite(.limited) struct ObservationReferenceTests {
  @Test @MainActor func `observing behaviors are listed`() throws {
    var clients: [NetworkClient] = []
    do {
      let spinner = Spinner()
      let activity = ActivityIndicatorBehavior(spinner)
      let client = NetworkClient(baseURL: baseURL, behaviors: [activity])
      clients.append(client)
    }
    do {
      let client = NetworkClient(
        baseURL: baseURL,
        behaviors: [.backgroundTask(UIKitBackgroundTasks())])
      clients.append(client)
    }
    do {
      let client = NetworkClient(baseURL: baseURL, behaviors: [.logging()])
      // #1 GET https://api.example.com/v1/issues 200 4213 B in 123.4 ms
      clients.append(client)
    }
    for client in clients {
      #expect(try client.pipeline(for: Request<Void>.get("x")).entries.first?.order == .observation)
    }
  }

  @Test func `a request is printed as a command`() async throws {
    let client = NetworkClient(baseURL: baseURL, transport: answering("[]"))
    let response: NetworkResponse = try await client.send(.get("issues", query: ["page": 2]))
    print(response.request.curlCommand(isMultiline: true))
    // curl 'https://api.example.com/v1/issues?page=2' \
    //   --header Accept: \
    //   --header User-Agent:
    #expect(
      response.request.curlCommand(isMultiline: true) == #"""
        curl 'https://api.example.com/v1/issues?page=2' \
          --header Accept: \
          --header User-Agent:
        """#)
  }

  @Test func `a redactor hides what is not allowed`() {
    var redactor = Redactor.standard
    redactor.allowedHeaders.insert("X-Shop-Region")
    redactor.sensitiveFields.insert("iban")
    let url = URL(string: "https://me:pw@shop.example.com/?page=2&key=abc")!
    print(redactor.redact(url))
    // https://shop.example.com/?page=2&key=REDACTED
    #expect(redactor.redact(url) == "https://shop.example.com/?page=2&key=REDACTED")
    do {
      let redactor = Redactor.standard.hiding(["s3cr3t/key"])
      print(redactor.redact(text: "no such key: s3cr3t%2Fkey"))
      // no such key: REDACTED
      #expect(redactor.redact(text: "no such key: s3cr3t%2Fkey") == "no such key: REDACTED")
    }
  }

  @Test func `timings are collected and printed`() {
    let timings = LatencyStatistics()
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.timing(timings)])
    // … later
    print(timings)
    // endpoint      calls  failed      p50       p95       p99       max
    // GET users/{}    128       2  41.0 ms  112.6 ms  130.0 ms  131.2 ms
    #expect(client.configuration.behaviors.count == 1)

    var histogram = DurationHistogram()
    for milliseconds in 1...100 {
      histogram.record(.milliseconds(milliseconds))
    }
    print(histogram.percentile(95))  // about 95 ms
    #expect((.milliseconds(95) ... .milliseconds(98)).contains(histogram.percentile(95)))
  }

  @Test func `a trace goes on`() async throws {
    let field = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    let incoming = TraceContext(traceparent: field)
    let outgoing = incoming?.child() ?? TraceContext.root()
    print(outgoing.traceparent)  // the same trace, a new parent id
    #expect(outgoing.traceparent.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-"))

    let server = try LoopbackServer { _ in .status(200) }
    let baseURL = server.baseURL
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.traceContext()])
    try await TraceContext.$current.withValue(incoming) {
      // A child of `incoming`.
      try await client.send(.get("users/1"))
    }
    #expect(server.requests.first?.headers["traceparent"]?.hasPrefix(field.prefix(36)) == true)
  }
}
