import Foundation
import RequestBehaviors

#if canImport(CRequestBehaviorsCurl)
  import RequestBehaviorsCurl
#endif
#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Benchmark {
  /// A benchmark of the cost of reading events beside splitting lines, and how fast files are written.
  static let events = Benchmark(
    name: "events", summary: "server-sent events of three lines in chunks of 16 KB; a download of 128 MB over loopback"
  ) { effort in
    try await parsing(effort) + downloads(effort)
  }

  private static func parsing(_ effort: Effort) async throws -> [Row] {
    let count = effort.scaled(100_000)
    let chunks = EventSample.chunks(count)
    let works: [Measure.Work] = [
      { try EventSample.check(EventSample.splitLines(chunks), count * 4) },
      { try EventSample.check(try await EventSample.count(EventSample.response(chunks).lines), count * 4) },
      { try EventSample.check(try await EventSample.count(EventSample.response(chunks).events), count) },
    ]
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: count, works)
    let labels = ["a loop that splits lines", "response.lines", "response.events"]
    let limits: [Double?] = [nil, 0.5, 0.6]
    return zip(labels, costs).enumerated().map { index, entry in
      let (label, measured) = entry
      let (rate, ratio) = (1e9 / measured.typical.nanoseconds, measured.speed(beside: costs[0]))
      return Row(
        label: label, figure: "\(rate.formatted(0)) events/s, \(measured.typical.description)", ratio: ratio,
        target: limits[index].map { .atLeast($0, ratio) })
    }
  }

  /// Measures files written beside those of `curl` and the bare session; each has its own file.
  private static func downloads(_ effort: Effort) async throws -> [Row] {
    #if os(Linux) || os(macOS)
      let server = try QuickServer()
      defer { server.stop() }
      guard let url = try server.makeFile(megabytes: effort.isQuick ? 32 : 128) else { return [] }
      let folder = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let session = URLSession(configuration: leanConfiguration)
      var labels = ["curl", "URLSession download(for:)", "NetworkClient over URLSession"]
      let client = NetworkClient(configuration: RequestConfiguration())
      var works: [Measure.Work] = [
        { try await curl(url, to: folder.appending(path: "curl")) },
        {
          let (file, _) = try await session.download(for: URLRequest(url: url))
          try FileManager.default.moveItem(at: file, to: folder.appending(path: "\(UUID().uuidString)"))
        },
        { try await client.download(.get(url: url), to: folder.appending(path: "client")) },
      ]
      #if canImport(CRequestBehaviorsCurl)
        let curlClient = NetworkClient(configuration: RequestConfiguration(), transport: CurlTransport())
        labels.append("NetworkClient over libcurl")
        works.append { try await curlClient.download(.get(url: url), to: folder.appending(path: "curl-client")) }
      #endif
      let costs = try await Measure.sideBySide(rounds: min(effort.rounds, 5), count: 1, works)
      session.invalidateAndCancel()
      return zip(labels, costs).enumerated().map { index, entry in
        let (label, measured) = entry
        let rate = Double(effort.isQuick ? 32 : 128) * 1e9 / measured.typical.nanoseconds
        let ratio = measured.speed(beside: costs[1])
        return Row(
          label: label,
          figure: "\(rate.formatted(0)) MB/s, \((measured.typical.cpuNanoseconds / 1e6).formatted(0)) ms CPU",
          ratio: ratio, target: index == 2 ? .atLeast(0.95, ratio) : nil,
          former: index == 2 ? .atLeast(0.9, ratio) : nil)
      }
    #else
      return []
    #endif
  }

  #if os(Linux) || os(macOS)
    private static func curl(_ url: URL, to file: URL) async throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
      process.arguments = ["-s", "-o", file.path, url.absoluteString]
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        process.terminationHandler = { ended in
          continuation.resume(with: ended.terminationStatus == 0 ? .success(()) : .failure(URLError(.unknown)))
        }
        do { try process.run() } catch { continuation.resume(throwing: error) }
      }
    }
  #endif
}

/// The events that are read.
enum EventSample {
  /// Events of three lines and the empty line that ends them, cut into chunks at arbitrary places.
  static func chunks(_ count: Int) -> [Data] {
    var text = Data()
    for index in 0..<count {
      let data = "{\"name\":\"AAPL\",\"price\":\(index).25,\"currency\":\"USD\"}"
      text += Data("id: \(index)\nevent: price\ndata: \(data)\n\n".utf8)
    }
    return stride(from: 0, to: text.count, by: 16_384).map { text[$0..<min($0 + 16_384, text.count)] }
  }

  /// A response that streams chunks.
  static func response(_ chunks: [Data]) -> NetworkResponse {
    NetworkResponse(
      request: NetworkRequest(url: URL(fileURLWithPath: "/")), statusCode: 200,
      body: .stream(ByteStream(chunks: chunks)))
  }

  /// The plain code of a reader that only needs lines.
  static func splitLines(_ chunks: [Data]) -> Int {
    var rest: [UInt8] = []
    var lines = 0
    for chunk in chunks {
      rest.append(contentsOf: chunk)
      var start = 0
      while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
        if String(decoding: rest[start..<end], as: UTF8.self).utf8.count <= end - start { lines += 1 }
        start = end + 1
      }
      rest.removeFirst(start)
    }
    return lines
  }

  static func count<Elements: AsyncSequence>(_ elements: Elements) async throws -> Int {
    var count = 0
    for try await _ in elements { count += 1 }
    return count
  }

  static func check(_ found: Int, _ wanted: Int) throws {
    guard found == wanted else { throw NetworkError(.invalidRequest, "\(found) elements where \(wanted) were sent") }
  }
}
