import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport

/// A folder for the files of one test, and a server of one file whose responses break off as the test says.
final class DownloadFixture: Sendable {
  let folder: URL
  let content: Box<Data>
  let headers = Box<HeaderFields>(["ETag": "\"a\""])
  /// After how many bytes of its body each response breaks off; `nil` for one that does not.
  let cuts = Box<[Int?]>([])
  /// The responses to the next requests in place of the file.
  let replies = Box<[(Int, HeaderFields, String)]>([])
  let requests = Box<[NetworkRequest]>([])
  /// How many bodies were cancelled before their end.
  let cancellations = Box(0)
  /// Time passes in waits only.
  let clock = LeapingClock()

  init(_ content: Data = Data((0..<1_000).map { UInt8($0 % 251) })) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "downloads-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.content = Box(content)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var destination: URL { folder.appending(path: "file.bin") }

  /// The names of the files in the folder, in order.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  func client(_ behaviors: [any RequestBehavior] = []) -> NetworkClient {
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.clock = clock.requestClock
    let transport = ClosureTransport { [self] in respond(to: $0) }
    return NetworkClient(configuration: configuration, transport: transport)
  }

  /// Begins a download that holds its destination until a gate opens.
  func waitingDownload(behind gate: TestGate) async -> Task<NetworkResponse, any Error> {
    let waiting = ClosureBehavior("waiting") { request, next in
      await gate.pass()
      return try await next(request)
    }
    let client = client([waiting])
    let download = Task { try await client.download(.get("file"), to: destination) }
    await gate.waitForArrivals(1)
    return download
  }

  /// The fields of each request that have to do with ranges.
  var ranges: [String] {
    requests.value.map { "\($0.headers["Range"] ?? "all") \($0.headers["If-Range"] ?? "-")" }
  }

  private func respond(to request: NetworkRequest) -> NetworkResponse {
    requests.update { $0.append(request) }
    if let (status, headers, text) = replies.update({ $0.isEmpty ? nil : $0.removeFirst() }) {
      return NetworkResponse(request: request, statusCode: status, headers: headers, body: body(Data(text.utf8)))
    }
    let (content, fields) = (content.value, headers.value)
    var response = NetworkResponse(request: request, statusCode: 200, headers: fields)
    var part = content
    let isMeant = request.headers["If-Range"].map { $0 == fields["ETag"] || $0 == fields["Last-Modified"] } ?? true
    if isMeant, let range = request.headers["Range"], let first = Int(range.dropFirst(6).dropLast()) {
      guard first < content.count else {
        response.statusCode = 416
        response.headers["Content-Range"] = "bytes */\(content.count)"
        response.headers["Content-Type"] = "text/plain"
        return response
      }
      part = content.dropFirst(first)
      response.statusCode = 206
      response.headers["Content-Range"] = "bytes \(first)-\(content.count - 1)/\(content.count)"
    }
    response.headers["Content-Length"] = "\(part.count)"
    response.body = body(part, cut: cuts.update { $0.isEmpty ? nil : $0.removeFirst() })
    return response
  }

  /// A stream of parts of 100 bytes that breaks off.
  private func body(_ data: Data, cut: Int? = nil) -> ResponseBody {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
    var rest = data.prefix(cut ?? data.count)
    while !rest.isEmpty {
      continuation.yield(Data(rest.prefix(100)))
      rest = rest.dropFirst(100)
    }
    continuation.finish(throwing: cut.map { NetworkError(.truncatedBody, "the test cut the body after \($0) bytes") })
    return .stream(
      ByteStream(stream) { [cancellations] in
        cancellations.update { $0 += 1 }
        continuation.finish()
      })
  }
}
