import Foundation
import RequestBehaviors

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

#if canImport(CRequestBehaviorsCurl)
  import RequestBehaviorsCurl
#endif

extension Benchmark {
  /// A benchmark of how fast the body of a response is read in chunks, beside the bare session.
  static let streams = Benchmark(
    name: "streams",
    summary: "64 MiB over loopback, read in chunks: raw URLSession with a delegate, NetworkClient.stream"
  ) { effort in
    let server = try Server()
    defer { server.stop() }
    let raw = RawDownload()
    let url = server.baseURL.appending(path: "large")
    var clients = [("NetworkClient over URLSession", NetworkClient(baseURL: server.baseURL))]
    #if canImport(CRequestBehaviorsCurl)
      clients.append(
        ("NetworkClient over libcurl", NetworkClient(baseURL: server.baseURL, transport: CurlTransport())))
    #endif
    var works: [Measure.Work] = [{ try check(try await raw.count(of: url)) }]
    for (_, client) in clients { works.append { try check(try await count(client)) } }
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: Server.largeCount >> 20, works)
    raw.close()
    for (_, client) in clients { await client.shutdown() }
    return zip(["raw URLSession"] + clients.map(\.0), costs).enumerated().map { index, entry in
      let ratio = entry.1.speed(beside: costs[0])
      return Row(
        label: entry.0, figure: figure(entry.1.typical), ratio: ratio,
        target: index == 0 ? nil : .atLeast(index == 2 ? 1 : 0.9, ratio),
        former: index == 2 ? .atLeast(0.9, ratio) : nil)
    }
  }

  private static func count(_ client: NetworkClient) async throws -> Int {
    var count = 0
    for try await chunk in try await client.stream(.get("large")).bytes { count += chunk.count }
    return count
  }

  private static func check(_ count: Int) throws {
    guard count == Server.largeCount else { throw URLError(.badServerResponse) }
  }

  private static func figure(_ cost: Cost) -> String {
    "\((1e9 / cost.nanoseconds).formatted(0)) MiB/s, \((cost.cpuNanoseconds / 1_000).formatted(0)) µs CPU and "
      + "\(cost.allocations.formatted(0)) allocations per MiB"
  }
}

/// A delegate that counts the bytes of a body.
private final class RawDownload: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // Unchecked because `lock` protects the variables.
  private let lock = NSLock()
  private var session: URLSession?
  private var received = 0
  private var continuation: CheckedContinuation<Int, any Error>?

  override init() {
    super.init()
    session = URLSession(configuration: Benchmark.leanConfiguration, delegate: self, delegateQueue: nil)
  }

  func count(of url: URL) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      lock.withLock {
        received = 0
        self.continuation = continuation
      }
      session?.dataTask(with: url).resume()
    }
  }

  func close() { session?.invalidateAndCancel() }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    lock.withLock { received += data.count }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let (count, waiting) = lock.withLock { (received, continuation) }
    if let error { waiting?.resume(throwing: error) } else { waiting?.resume(returning: count) }
  }
}
