import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport

/// A server with a script, a clock that stands, a cache and a client of these.
final class CacheFixture: Sendable {
  /// One response of the server.
  struct Reply: Sendable {
    var status = 200
    var headers: HeaderFields = [:]
    var body = ""
    /// Whether the connection fails instead.
    var fails: NetworkError.Code?
    var isVerified = true
    /// Whether a matching condition gets a 304.
    var confirms = true
  }

  let clock = ManualClock(date: Date(timeIntervalSince1970: 1_767_225_600))
  let store: MemoryCacheStore
  let events = Box<[CacheEvent]>([])
  let transport: ClosureTransport
  let client: NetworkClient
  private let replies: Box<[Reply]>

  /// Creates a server that gives the replies in order, the last one for ever.
  init(
    _ replies: [Reply], policy: CachePolicy = CachePolicy(), store: MemoryCacheStore = MemoryCacheStore(),
    _ behaviors: any RequestBehavior...
  ) {
    let script = Box(replies)
    let clock = clock
    self.replies = script
    self.store = store
    transport = ClosureTransport { request in
      let reply = script.update { $0.count > 1 ? $0.removeFirst() : $0.first ?? Reply(status: 404) }
      return try CacheFixture.respond(reply, to: request, at: clock.date)
    }
    let events = events
    var configuration = RequestConfiguration(
      baseURL: baseURL,
      behaviors: [.caching(store, policy: policy) { event in events.update { $0.append(event) } }] + behaviors)
    configuration.clock = clock.requestClock
    configuration.options.acceptableStatuses = .all
    client = NetworkClient(configuration: configuration, transport: transport)
  }

  /// Creates a server that always says the same.
  convenience init(
    _ headers: HeaderFields, status: Int = 200, body: String = "body", policy: CachePolicy = CachePolicy()
  ) {
    self.init([Reply(status: status, headers: headers, body: body)], policy: policy)
  }

  private static func respond(_ reply: Reply, to request: NetworkRequest, at date: Date) throws -> NetworkResponse {
    if let code = reply.fails { throw NetworkError(code, "the test's server fails") }
    var headers = reply.headers
    if !headers.contains("Date") { headers["Date"] = HTTPDate.text(of: date) }
    let etag = reply.headers["ETag"]
    let isConfirmed =
      reply.confirms && reply.status == 200
      && (etag.map { request.headers["If-None-Match"] == $0 }
        ?? reply.headers["Last-Modified"].map { request.headers["If-Modified-Since"] == $0 } ?? false)
    return NetworkResponse(
      request: request, statusCode: isConfirmed ? 304 : reply.status, headers: headers,
      body: isConfirmed || request.method == .head ? .empty : .data(Data(reply.body.utf8)), isVerified: reply.isVerified
    )
  }

  /// Sends a GET of `a`, or another request.
  @discardableResult
  func send(_ request: Request<NetworkResponse> = .get("a")) async throws -> NetworkResponse {
    try await client.send(request)
  }

  /// Moves the clock.
  func wait(_ seconds: Int) { clock.advance(by: .seconds(seconds)) }

  /// The requests that the server received.
  var sent: [NetworkRequest] { transport.sent }

  /// The events of the cache so far.
  var kinds: [CacheEvent.Kind] { events.value.map(\.kind) }

  /// Why responses were not stored.
  var refusals: [CacheRefusal] { events.value.compactMap(\.refusal) }
}
