import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport

/// Does what might end the process, or what needs one of its own to be measured, and tells how it went.
///
/// - `get URL` sends one request, and `head URL` waits for the head of a streamed response.
/// - `fuzz COUNT` sends that many damaged responses to a client, and `mutation NUMBER` shows one of them.
/// - `soak COUNT` sends that many requests to a server of its own, and prints how many threads and bytes the process has
///   gained.
/// - `stream URL` reads the streamed response of `large` below a URL.
/// - `download URL FILE COUNT` downloads, tells when so many bytes are on the disk, and then how the download ended.
/// - `downloads FOLDER COUNT` begins that many at once, one of which is sent at a time, with room for 200 descriptors,
///   and tells how many succeed.
/// - `upload URL COUNT` sends a file that often.
/// - `spools URL` sends a stream while another one is sent, both longer than what is kept in memory.
/// - `cassette FOLDER NAME COUNT` records that many requests into a cassette that other processes record, too.
/// - `log FILE` logs a request with that file as standard error.
/// - `unread COUNT` logs that many requests to a standard error that is not read, and tells how many of their lines can
///   be read later.
/// - `sessions URL SECONDS` ends sessions after requests, and waits so long before it tells how many succeeded.
/// - `posts URL COUNT` sends that many requests without a body, tells how many succeed, and then whether their connections
///   are closed within half a minute.
/// - `mix URL COUNT` downloads that often beside uploads, and tells how many downloads are right.
@main
enum TransportProbe {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard (2...4).contains(arguments.count) else { throw CocoaError(.featureUnsupported) }
    let text = arguments[1]
    let number = arguments.last.flatMap { Int($0) } ?? 0
    switch (arguments[0], arguments.count) {
    case ("get", 2): try await get(text)
    case ("head", 2): try await get(text, .streamed)
    #if os(Linux)
      case ("fuzz", 2): try await fuzz.run(number)
      case ("mutation", 2): try await fuzz.show(number)
    #endif
    case ("soak", 2): try await soak(number)
    case ("stream", 2): try await stream(text)
    case ("download", 4): try await download(text, to: URL(fileURLWithPath: arguments[2]), telling: number)
    case ("downloads", 3): try await download(number, into: URL(fileURLWithPath: text))
    case ("upload", 3): try await upload(to: text, number)
    case ("spools", 2): try await spools(to: text)
    case ("cassette", 4): try await cassette(in: text, named: arguments[2], number)
    case ("log", 2): try await log(to: text)
    case ("unread", 2): try await logUnread(number)
    case ("sessions", 3): try await endSessions(to: text, waiting: number)
    case ("posts", 3): try await post(to: text, number)
    case ("mix", 3): try await mix(at: text, number)
    default: throw CocoaError(.featureUnsupported)
    }
  }

  #if os(Linux)
    /// A fuzz without what ends the process, as Limitations in the documentation says.
    ///
    /// That is heads without an end, lengths that no number holds, and trailers. Each response has a connection of its
    /// own, because what comes unasked over another would be the next one's.
    private static var fuzz: ResponseFuzz {
      var settings = URLSessionTransport.Configuration()
      settings.connectionReuse = .never
      return ResponseFuzz(URLSessionTransport(configuration: settings)) { _, reading in
        switch reading {
        case .response(let message), .lenient(let message):
          !message.hasTrailers && !message.fields.contains { $0.value.hasPrefix("92233") }
        case .incomplete(let isWithinBody, _): isWithinBody
        case .malformed(let reason, _): ["Transfer-Encoding", "Content-Length", "both"].contains(reason)
        }
      }
    }
  #endif

  private static func stream(_ text: String) async throws {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    try await readStream(with: NetworkClient(baseURL: url))
  }

  private static func download(_ count: Int, into folder: URL) async throws {
    var room = rlimit(rlim_cur: 200, rlim_max: 200)
    #if os(Linux)
      let isSet = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &room) == 0
    #else
      let isSet = setrlimit(RLIMIT_NOFILE, &room) == 0
    #endif
    guard isSet, let url = URL(string: "https://api.example.com") else { throw CocoaError(.featureUnsupported) }
    let mock = MockTransport { NetworkResponse(request: $0, statusCode: 200, body: .data(Data("x".utf8))) }
    let client = NetworkClient(baseURL: url, behaviors: [.concurrencyLimit(1)], transport: mock)
    let ends = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<count {
        group.addTask {
          (try? await client.download(.get("x"), to: folder.appendingPathComponent("\(number)"))) != nil
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    print(ends)
  }

  private static func log(to file: String) async throws {
    let descriptor = open(file, O_WRONLY)
    guard descriptor >= 0, dup2(descriptor, 2) == 2, let url = URL(string: "https://api.example.com") else {
      throw CocoaError(.fileWriteUnknown)
    }
    let mock = MockTransport { NetworkResponse(request: $0, statusCode: 200) }
    try await NetworkClient(baseURL: url, behaviors: [.logging()], transport: mock).send(.get("x"))
    print("alive")
  }

  private static func logUnread(_ count: Int) async throws {
    let pipe = Pipe()
    let (reader, writer) = (pipe.fileHandleForReading, pipe.fileHandleForWriting.fileDescriptor)
    let flags = fcntl(writer, F_GETFL)
    guard let url = URL(string: "https://api.example.com"), fcntl(writer, F_SETFL, flags | O_NONBLOCK) == 0 else {
      throw CocoaError(.fileWriteUnknown)
    }
    while write(writer, "full\n", 5) > 0 {}
    guard fcntl(writer, F_SETFL, flags) == 0, dup2(writer, 2) == 2 else { throw CocoaError(.fileWriteUnknown) }
    let mock = MockTransport { NetworkResponse(request: $0, statusCode: 200) }
    let client = NetworkClient(baseURL: url, behaviors: [.logging()], transport: mock)
    for number in 0..<count { try await client.send(.get("item-\(number)")) }
    FileHandle.standardOutput.write(Data("alive\n".utf8))
    // Read on a thread of its own, because reading waits.
    let lines = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var text = ""
        while !text.contains("item-\(count - 1) "), case let data = reader.availableData, !data.isEmpty {
          text += String(decoding: data, as: UTF8.self)
        }
        continuation.resume(returning: text.split(separator: "\n"))
      }
    }
    let numbers = lines.compactMap { $0.split(separator: "item-").last?.prefix { $0.isNumber } }.compactMap { Int($0) }
    print(numbers == Array(0..<count) ? "in order" : "\(numbers.count) lines")
  }

  /// Sends the second stream, from its beginning to the response, in the middle of the first.
  private static func spools(to text: String) async throws {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    let client = NetworkClient(baseURL: url)
    @Sendable func send(_ name: String, _ byte: UInt8, then work: @escaping @Sendable () async -> Void) async {
      let parts = Box([Data(repeating: byte, count: 300_000), Data(repeating: byte, count: 300_000)])
      let stream = AsyncThrowingStream {
        if parts.value.count == 1 { await work() }
        return parts.update { $0.isEmpty ? nil : $0.removeFirst() }
      }
      do {
        try await client.send(.post("\(name)", body: .oneShot(ByteStream(stream))))
        print(name, "is sent")
      } catch { print(name, error) }
    }
    await send("first", 0x61) { await send("second", 0x62) {} }
  }

  /// Saves after each request, so that the processes change the file in turn.
  private static func cassette(in folder: String, named name: String, _ count: Int) async throws {
    let mock = MockTransport { request in
      NetworkResponse(request: request, statusCode: 200, body: .data(Data(request.url.path().utf8)))
    }
    let cassette = try CassetteTransport("tape", mode: .recordMissing, over: mock, directory: folder)
    guard let url = URL(string: "https://api.example.com") else { throw URLError(.badURL) }
    let client = NetworkClient(baseURL: url, transport: cassette)
    for number in 0..<count {
      try await client.send(.get("\(name)/\(number)"))
      try cassette.save()
    }
    await cassette.shutdown()
    print("recorded")
  }

  private static func get(_ text: String, _ delivery: ResponseDelivery = .buffered) async throws {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    var request = NetworkRequest(url: url)
    request.options.delivery = delivery
    do {
      print(try await URLSessionTransport().send(request).statusCode)
    } catch let error as NetworkError {
      print(error.code, error.message, error, String(reflecting: error), "\(error.underlyingError as Any)")
    }
  }

  /// Sends a file that is too long to be read into memory, and prints how many sends ended in which way.
  private static func upload(to text: String, _ count: Int) async throws {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
    try Data(count: 1 << 20).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let transport = URLSessionTransport()
    var ends: [String: Int] = [:]
    for _ in 0..<count {
      do {
        let response = try await transport.send(NetworkRequest(.put, url: url, body: .file(file)))
        ends["\(response.statusCode)", default: 0] += 1
      } catch let error as NetworkError {
        ends["\(error.code)", default: 0] += 1
      }
    }
    print(ends.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
  }

  /// Looks at the file again and again, because nothing tells what has been written of it.
  private static func download(_ text: String, to file: URL, telling count: Int) async throws {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    let watch = Task {
      while true {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path + ".partial")
        if let size = attributes?[.size] as? NSNumber, size.intValue >= count { break }
        // Real time: nothing tells when the system has written what.
        try await RequestClock.system.sleep(for: .milliseconds(5))
      }
      FileHandle.standardOutput.write(Data("\(count) bytes are there\n".utf8))
    }
    defer { watch.cancel() }
    do {
      try await NetworkClient(configuration: RequestConfiguration()).download(.get(url: url), to: file)
      print("whole")
    } catch let error as NetworkError {
      print(error.code)
    }
  }

  /// Sends through a client of five behaviors, whose calls, responses and errors must all be released.
  private static func soak(_ count: Int) async throws {
    let server = try LoopbackServer(options: .init(recordsRequests: false)) { respond(to: $0) }
    let session = TokenSession(
      source: ClosureTokenSource(fetch: { _ in AccessToken("token", lifetime: .seconds(3_600)) }))
    let client = NetworkClient(
      baseURL: server.baseURL,
      behaviors: [
        .logging(ClosureLogSink { _ in }), .timing(LatencyStatistics()), .headers(["X-Client": "soak"]),
        .tokenAuth(session), .nonceVerification(),
      ])
    try await send(count / 10, client)
    let (threads, bytes) = try (processFigure("Threads"), processFigure("VmRSS"))
    try await send(count, client)
    print(try processFigure("Threads") - threads, try (processFigure("VmRSS") - bytes) * 1_024)
  }

  private static func respond(to request: LoopbackRequest) -> LoopbackResponse {
    let response: LoopbackResponse =
      switch request.path {
      case "/moved": .text("", status: 302).header("Location", "/x")
      case "/401": .text("who?", status: 401).header("WWW-Authenticate", "Basic realm=\"x\"")
      case "/500": .text(String(repeating: "broken ", count: 1_000), status: 500)
      default: .text(String(repeating: "hello ", count: 1_000))
      }
    return response.header("X-API-Nonce", request.headers["X-API-Nonce"] ?? "")
  }

  /// Sends requests of several kinds, 20 at a time.
  private static func send(_ count: Int, _ client: NetworkClient) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<20 {
        group.addTask {
          for number in 0..<(count / 20) { try await request(kind: (lane + number) % 10, client) }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func request(kind: Int, _ client: NetworkClient) async throws {
    let expected: NetworkError.Code? =
      switch kind {
      case 0, 1: .unacceptableStatus
      case 2: .unexpectedContentType
      default: nil
      }
    do {
      switch kind {
      case 0: try await client.send(.get("401").without(TokenAuthBehavior.self))
      case 1: try await client.send(.get("500"))
      case 2: _ = try await client.send(.get("x").returning(Int.self))
      case 3: try await client.send(.post("x", body: .text("hello")))
      case 4: try await client.send(.get("moved"))
      default: _ = try await client.send(.get("x").returning(String.self))
      }
      if expected != nil { throw CocoaError(.featureUnsupported) }
    } catch let error as NetworkError where error.code == expected {}
  }
}
