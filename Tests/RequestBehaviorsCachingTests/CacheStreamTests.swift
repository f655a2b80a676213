import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Bodies that arrive as streams.
@Suite(.limited) struct CacheStreamTests {
  // The lifetimes are those of a clock that stands.
  private let clock = ManualClock()
  private let store = MemoryCacheStore(capacity: 10_000, maximumBodySize: 100)
  private let cancelled = Box(false)
  private let events = Box<[CacheEvent]>([])

  private func client(_ chunks: [String], _ headers: HeaderFields = [:], error: NetworkError.Code? = nil)
    -> NetworkClient
  {
    let (cancelled, events) = (cancelled, events)
    let transport = ClosureTransport { request in
      let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
      for chunk in chunks { continuation.yield(Data(chunk.utf8)) }
      continuation.finish(throwing: error.map { NetworkError($0, "the test's stream fails") })
      var fields: HeaderFields = ["Cache-Control": "max-age=60"]
      fields.merge(headers)
      return NetworkResponse(
        request: request, statusCode: 200, headers: fields,
        body: .stream(ByteStream(stream, onCancel: { cancelled.value = true })))
    }
    return NetworkClient(
      transport, clock.requestClock, [.caching(store) { event in events.update { $0.append(event) } }])
  }

  private func read(_ response: NetworkResponse, chunks limit: Int = .max) async throws -> [String] {
    guard case .stream(let stream) = response.body else { return [try response.text] }
    var chunks: [String] = []
    for try await chunk in stream {
      chunks.append(String(decoding: chunk, as: UTF8.self))
      if chunks.count == limit { break }
    }
    return chunks
  }

  @Test func `a stream passes chunk by chunk, and is stored when it has been read to its end`() async throws {
    let client = client(["one", "two"])
    let first: NetworkResponse = try await client.send(.get("a"))
    #expect(store.count == 0)
    #expect(try await read(first) == ["one", "two"])
    #expect(store.count == 1)
    let second: NetworkResponse = try await client.send(.get("a"))
    #expect(second.source == .cache)
    #expect(try second.text == "onetwo")
    #expect(events.value.map(\.kind) == [.miss, .stored, .hit])
  }

  @Test func `a stream that is not read to its end is not stored, and cancelling it reaches its source`() async throws {
    let client = client(["one", "two"])
    let response: NetworkResponse = try await client.send(.get("a"))
    #expect(try await read(response, chunks: 1) == ["one"])
    response.body.cancel()
    #expect(cancelled.value)
    #expect(store.count == 0)
  }

  @Test func `a stream that fails is not stored`() async throws {
    let response: NetworkResponse = try await client(["one"], error: .truncatedBody).send(.get("a"))
    await #expect(throws: NetworkError.self) { try await read(response) }
    #expect(store.count == 0)
  }

  @Test(
    arguments: [
      (["Content-Length": "9"], "short", CacheRefusal.incomplete), ([:], String(repeating: "x", count: 101), .tooLarge),
    ] as [(HeaderFields, String, CacheRefusal)])
  func `a stream that is incomplete or too long passes and is not stored`(
    headers: HeaderFields, text: String, refusal: CacheRefusal
  ) async throws {
    let response: NetworkResponse = try await client([text], headers).send(.get("a"))
    #expect(try await read(response) == [text])
    #expect(store.count == 0)
    #expect(events.value.compactMap(\.refusal) == [refusal])
  }

  @Test func `a stream whose URL was changed while it passed is not stored`() async throws {
    let client = client(["one"])
    let response: NetworkResponse = try await client.send(.get("a"))
    try await client.send(.init(.put, "a"))
    _ = try await read(response)
    #expect(store.count == 0)
    #expect(events.value.compactMap(\.refusal) == [.changedMeanwhile])
  }

  @Test func `a value that is decoded from a stream is stored, too`() async throws {
    let client = client([#"{"name":"#, #""Mona"}"#])
    for _ in 0..<2 {
      let value: [String: String] = try await client.send(.get("a"))
      #expect(value == ["name": "Mona"])
    }
    #expect(events.value.map(\.kind) == [.miss, .stored, .hit])
  }

  @Test(arguments: [[:], ["Content-Encoding": "gzip", "Content-Length": "9"]] as [HeaderFields])
  func `the kept beginning of a refused stream is not stored`(headers: HeaderFields) async throws {
    let body = Data(repeating: 7, count: 100_000)
    let transport = ClosureTransport { request in
      var fields: HeaderFields = ["Cache-Control": "max-age=60"]
      fields.merge(headers)
      return NetworkResponse(
        request: request, statusCode: 404, headers: fields,
        body: request.options.delivery == .streamed ? .stream(ByteStream(chunks: [body])) : .data(body))
    }
    let events = events
    let client = NetworkClient(
      transport, clock.requestClock, [.caching(MemoryCacheStore()) { event in events.update { $0.append(event) } }])
    await #expect(throws: NetworkError.self) { try await client.stream(.get("a")) }
    #expect(events.value.compactMap(\.refusal) == [.incomplete])
    let whole: NetworkResponse = try await client.send(.get("a").with(\.acceptableStatuses, .all))
    #expect(try whole.data.count == 100_000)
  }
}
