#if canImport(CRequestBehaviorsCurl)
  import CCurlBaseline
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  extension Benchmark {
    /// A benchmark of the cost of the transport over libcurl beside libcurl itself, over real connections.
    static let curl = Benchmark(
      name: "curl", summary: "over loopback: libcurl's multi interface in C, URLSession, CurlTransport, NetworkClient"
    ) { effort in
      let server = try QuickServer()
      defer { server.stop() }
      var rows = [Row(label: "server", figure: server.name)]
      for (width, count) in [(1, 2_000), (8, 8_000), (64, 16_000)] {
        rows += try await compare(server.small, "1 KB", width, effort.scaled(count), effort)
      }
      if let large = server.large { rows += try await compare(large, "1 MB", 8, effort.scaled(400), effort) }
      return rows
    }

    private static func compare(
      _ url: URL, _ size: String, _ width: Int, _ count: Int, _ effort: Effort
    ) async throws -> [Row] {
      let baseline = try Baseline(width: width)
      let session = URLSession(configuration: leanConfiguration)
      let transport = CurlTransport()
      let client = NetworkClient(
        configuration: RequestConfiguration(
          baseURL: url.deletingLastPathComponent(),
          behaviors: [
            HeaderBehavior(name: "X-A"), HeaderBehavior(name: "X-B"), EmptyBehavior(), EmptyBehavior(order: .first),
            .nonceVerification(),
          ]),
        transport: CurlTransport())
      let looped = CurlTransport()
      let real = NetworkClient(
        configuration: RequestConfiguration(
          baseURL: url.deletingLastPathComponent(), behaviors: CountedWork.five()), transport: looped)
      let path = RequestPath(encoded: url.lastPathComponent)
      let request = URLRequest(url: url)
      let bare = NetworkRequest(url: url)
      let works: [Measure.Work] = [
        { try await baseline.get(url, count) },
        { try await inParallel(count / 8, width) { _ = try await session.data(for: request) } },
        { try await inParallel(count, width) { _ = try await transport.send(bare) } },
        { try await inParallel(count, width) { let _: Data = try await client.send(.get(path)) } },
        { try await inParallel(count, width) { let _: Data = try await real.send(.get(path)) } },
        { try await looped.onLoop { try await inParallel(count, width) { _ = try await looped.send(bare) } } },
        {
          try await looped.onLoop {
            try await inParallel(count, width) { let _: Data = try await real.send(.get(path)) }
          }
        },
      ]
      var costs = try await Measure.sideBySide(rounds: effort.rounds, count: count, works)
      // The session is so much slower that it does an eighth of the requests.
      costs[1] = costs[1].map {
        Cost(
          nanoseconds: $0.nanoseconds * 8, cpuNanoseconds: $0.cpuNanoseconds * 8, allocations: $0.allocations * 8)
      }
      session.invalidateAndCancel()
      await transport.shutdown()
      await looped.shutdown()
      await client.shutdown()
      return rows("\(size), \(width) in flight", width, size, costs)
    }

    private static func rows(_ what: String, _ width: Int, _ size: String, _ costs: [[Cost]]) -> [Row] {
      let labels = [
        "C", "URLSession", "CurlTransport", "NetworkClient with 5 behaviors", "with logging, token, retry",
        "CurlTransport on its thread", "with logging, token, retry on it",
      ]
      return zip(labels, costs).enumerated().map { index, entry in
        let ratio = entry.1.speed(beside: costs[0])
        let least: Double? =
          switch (index, width, size) {
          case (2, 1, "1 KB"): 0.55
          case (2, 64, "1 KB"): 0.7
          case (3, 64, "1 KB"): 0.6
          case (6, 1, "1 KB"): 0.8
          case (6, 8, "1 KB"), (6, 64, "1 KB"): 0.7
          default: nil
          }
        return Row(
          label: "\(entry.0), \(what)", figure: figure(entry.1.typical), ratio: ratio,
          target: least.map { .atLeast($0, ratio) })
      }
    }

    private static func figure(_ cost: Cost) -> String {
      "\((1e9 / cost.nanoseconds).formatted(0))/s, \((cost.cpuNanoseconds / 1_000).formatted(0)) µs CPU, "
        + "\(cost.allocations.formatted(0)) allocations"
    }
  }

  extension CountedWork {
    /// Works of 64 requests at a time over libcurl, on the transport's thread; their server is another process.
    static let overCurl = [
      CountedWork(overCurl: "curl") { transport, url in
        let request = NetworkRequest(url: url)
        return { _ = try await transport.send(request) }
      },
      CountedWork(overCurl: "five-over-curl") { transport, url in
        let client = NetworkClient(
          baseURL: url.deletingLastPathComponent(), behaviors: five(), transport: transport)
        let path = RequestPath(encoded: url.lastPathComponent)
        return { let _: Data = try await client.send(.get(path)) }
      },
    ]

    private init(overCurl name: String, _ makeRequest: @escaping @Sendable (CurlTransport, URL) -> Measure.Work) {
      self.init(name: name) {
        let held = HeldServer(try QuickServer())
        let transport = CurlTransport()
        let request = makeRequest(transport, held.server.small)
        return {
          try await transport.onLoop { try await Benchmark.inParallel(64, 64, request) }
          withExtendedLifetime(held) {}
        }
      }
    }
  }

  /// A server that is stopped with the last reference to it.
  private final class HeldServer: Sendable {
    // Used by one task at a time.
    nonisolated(unsafe) let server: QuickServer

    init(_ server: QuickServer) { self.server = server }

    deinit { server.stop() }
  }

  extension CurlTransport {
    /// Runs work on the transport's thread, where the system can.
    fileprivate func onLoop(_ work: @concurrent () async throws -> Void) async throws {
      if #available(macOS 15, *) { return try await run(work) }
      try await work()
    }
  }

  /// The loop in C, which runs on its own thread.
  private final class Baseline: Sendable {
    // Used by one thread at a time.
    nonisolated(unsafe) private let loop: OpaquePointer

    init(width: Int) throws {
      guard let loop = curl_baseline_make(Int32(width)) else { throw CocoaError(.featureUnsupported) }
      self.loop = loop
    }

    deinit { curl_baseline_free(loop) }

    func get(_ url: URL, _ count: Int) async throws {
      let bytes = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(returning: curl_baseline_get(self.loop, url.absoluteString, Int32(count)))
        }
      }
      if bytes < 0 { throw URLError(.badServerResponse) }
    }
  }
#else
  extension CountedWork {
    /// No works: there is no libcurl.
    static let overCurl: [CountedWork] = []
  }
#endif
