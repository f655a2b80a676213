import Foundation
import RequestBehaviors

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

#if canImport(CRequestBehaviorsCurl)
  import RequestBehaviorsCurl
#endif

extension Benchmark {
  /// A benchmark of how fast forms are encoded and bodies are sent.
  static let bodies = Benchmark(
    name: "bodies",
    summary: "16 MiB as a form beside a copy of its bytes, and uploaded over loopback beside raw URLSession"
  ) { effort in
    let file = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(UUID().uuidString)")
    try Data(repeating: 0x78, count: mebibytes << 20).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try await encoding(file, effort) + uploads(file, effort)
  }

  private static let mebibytes = 16

  private static func encoding(_ file: URL, _ effort: Effort) async throws -> [Row] {
    let chunk = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    guard let base = URL(string: "http://nobody.example/") else { throw URLError(.badURL) }
    let client = NetworkClient(baseURL: base, transport: Drain())
    let parts = (0..<mebibytes).map { MultipartPart.part("\($0)", .data(chunk)) }
    let works: [Measure.Work] = [
      {
        var copy = Data()
        for _ in 0..<mebibytes { copy.append(chunk) }
        guard copy.count == mebibytes << 20 else { throw URLError(.unknown) }
      },
      { try await client.send(.post("x", body: .multipart(parts))) },
      {
        guard try Data(contentsOf: file).count == mebibytes << 20 else { throw URLError(.unknown) }
      },
      { try await client.send(.post("x", body: .multipart([.file("film", file)]))) },
    ]
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: mebibytes, works)
    return [
      Row(label: "a copy of the bytes of 16 parts", figure: figure(costs[0].typical)),
      Row(
        label: "a form of 16 parts in memory, and its boundary", figure: figure(costs[1].typical),
        ratio: costs[1].speed(beside: costs[0])),
      Row(label: "a file read whole", figure: figure(costs[2].typical)),
      Row(
        label: "a form of one file, read in chunks", figure: figure(costs[3].typical),
        ratio: costs[3].speed(beside: costs[2])),
    ]
  }

  private static func uploads(_ file: URL, _ effort: Effort) async throws -> [Row] {
    let server = try Server()
    defer { server.stop() }
    let session = URLSession(configuration: leanConfiguration)
    let data = try Data(contentsOf: file)
    var request = URLRequest(url: server.baseURL.appending(path: "x"))
    request.httpMethod = "PUT"
    request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
    let bodies: [(String, RequestContent)] = [
      ("in memory", .data(data)), ("from a file", .file(file)), ("as a form", .multipart([.file("film", file)])),
    ]
    var clients = [("NetworkClient over URLSession", NetworkClient(baseURL: server.baseURL))]
    #if canImport(CRequestBehaviorsCurl)
      clients.append(
        ("NetworkClient over libcurl", NetworkClient(baseURL: server.baseURL, transport: CurlTransport())))
    #endif
    var works: [(String, Measure.Work)] = [
      ("raw URLSession, in memory", { [request] in _ = try await session.upload(for: request, from: data) }),
      ("raw URLSession, from a file", { [request] in _ = try await session.upload(for: request, fromFile: file) }),
    ]
    for (name, client) in clients {
      for (kind, body) in bodies {
        works.append(("\(name), \(kind)", { try await client.send(.put("x", body: body)) }))
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.rounds, count: mebibytes, works.map(\.1))
    session.invalidateAndCancel()
    for (_, client) in clients { await client.shutdown() }
    return zip(works.map(\.0), costs).enumerated().map { index, entry in
      let isRaw = index < 2
      // Each is compared with the bare session that reads from the same source.
      let ratio = entry.1.speed(beside: costs[entry.0.hasSuffix("memory") ? 0 : 1])
      let isTarget = !isRaw && !entry.0.hasSuffix("form")
      return Row(
        label: entry.0, figure: figure(entry.1.typical), ratio: isRaw ? nil : ratio,
        target: isTarget ? .atLeast(0.9, ratio) : nil)
    }
  }

  private static func figure(_ cost: Cost) -> String {
    "\((1e9 / cost.nanoseconds).formatted(0)) MiB/s, \((cost.cpuNanoseconds / 1_000).formatted(0)) µs CPU per MiB"
  }
}

/// A transport that reads the bodies of requests and sends nothing.
private struct Drain: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    switch request.body?.content {
    case .stream(let makeStream): for try await _ in makeStream() {}
    case .oneShot(let stream): for try await _ in try stream.take() {}
    case .data, .file, nil: break
    }
    return NetworkResponse(request: request, statusCode: 200)
  }

  func shutdown() async {}
}
