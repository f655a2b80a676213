import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite

// Enqueues numbered requests for ever, tells of each on standard output once it is enqueued, and sends them meanwhile,
// until it is killed. Its server is a file, which gets a line for each request that arrives, or has a URL.
// Arguments: the database, the server's file or URL, the first number, the step to the next. With "drain" as a fifth it
// only sends what is left, and ends.

struct Numbered: OutboxOperation {
  static let name = "numbered"
  var number: Int
  var delivery: OutboxDelivery { OutboxDelivery(lane: "lane-\(number % 4)") }

  func request(in db: Database) -> Request<Void> { .post("numbers/\(number)") }

  func delivered(_ value: Void, in db: Database) throws {
    try db.execute("INSERT INTO delivered VALUES (\(number))")
  }
}

/// Appends each request to a file, and fails every seventh in one of three ways.
struct FileServer: Transport {
  let file: Int32

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    let chance = Int.random(in: 0..<21)
    if chance == 0 { throw NetworkError(.timedOut, "before it arrived", request: request) }
    let line = "\(request.url.lastPathComponent) \(request.headers["Idempotency-Key"] ?? "none")\n"
    // One write to a file that is open for appending is never mixed with that of another process.
    _ = line.withCString { write(file, $0, strlen($0)) }
    if chance == 1 { throw NetworkError(.connectionLost, "after it arrived", request: request) }
    let nonce = request.headers["X-API-Nonce"] ?? ""
    return NetworkResponse(
      request: request, statusCode: chance == 2 ? 503 : 200,
      headers: chance == 3 ? ["Retry-After": "0"] : ["X-API-Nonce": nonce])
  }

  func shutdown() async {}
}

func run(_ arguments: [String]) async throws {
  guard arguments.count >= 5, let first = Int(arguments[3]), let step = Int(arguments[4]) else { exit(2) }
  let isOverNetwork = arguments[2].hasPrefix("http://")
  guard let base = URL(string: isOverNetwork ? arguments[2] : "https://api.example.com") else { exit(2) }
  let server: (any Transport)? =
    isOverNetwork ? nil : FileServer(file: open(arguments[2], O_WRONLY | O_APPEND | O_CREAT, 0o600))
  let store = try SQLiteStore(
    path: arguments[1],
    migrations: [SQLiteMigration("delivered") { try $0.execute("CREATE TABLE delivered (number INTEGER)") }])
  let client = NetworkClient(baseURL: base, behaviors: [.nonceVerification()], transport: server)
  let outbox = try await Outbox(
    store, client: client, operations: [Numbered.self],
    configuration: OutboxConfiguration(
      backoff: Backoff(base: .milliseconds(1), cap: .milliseconds(5), floor: .milliseconds(1)),
      pollInterval: .milliseconds(20)))
  if arguments.count > 5 {
    // Without a limit each call ends with the first portal, and the next one tries again at once.
    while try await !outbox.drain().isEmpty {}
    return
  }
  outbox.start()
  for number in stride(from: first, to: .max, by: step) {
    try await outbox.enqueue(Numbered(number: number))
    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
  }
}

try await run(CommandLine.arguments)
