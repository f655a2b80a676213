import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Archives that Chromium 156 and Firefox 153 exported of one page on a loopback server, without their names.
///
/// The page fetches JSON, sends JSON and a form, follows a redirect, meets a 404 and a 204, is cut off, leaves a body,
/// is refused a connection, and reads events.
@Suite(.limited) struct CassetteBrowserTests {
  enum Browser: String, CaseIterable, Sendable {
    case chromium, firefox
  }

  private func client(_ browser: Browser, pace: ReplayPace = .immediate, clock: RequestClock = .system) throws
    -> NetworkClient
  {
    let cassette = try CassetteTransport(browser.rawValue, mode: .replay, pace: pace, directory: "Browsers")
    var configuration = RequestConfiguration(baseURL: URL(string: "http://127.0.0.1:8080/v1")!)
    configuration.clock = clock
    return NetworkClient(configuration: configuration, transport: cassette)
  }

  private struct Items: Decodable {
    struct Item: Decodable {
      let id: Int
      let name: String
    }
    let items: [Item]
  }

  private struct Order: Codable {
    var id: Int?
    var item: Int?
    var note: String?
  }

  @Test(arguments: Browser.allCases) func `a client gets the responses that the page got`(browser: Browser) async throws
  {
    let client = try client(browser)
    let items: Items = try await client.send(.get("items", query: ["q": "café", "page": 1]))
    #expect(items.items.map(\.name) == ["café 0", "café 1", "café 2"])
    let order: Order = try await client.send(.post("orders", body: .json(Order(item: 7, note: "über"))))
    #expect(order.id == 41)
    let form = try await client.send(Request<String>.post("form", body: .form(["b": "x y", "a": "1"])))
    #expect(form == "a=1&b=x+y")
    #expect(try await client.send(Request<String>.get("old")) == "moved here")
    try await client.send(.delete("items/7"))
    let head = try await client.send(Request<NetworkResponse>(.head, "items"))
    #expect(head.headers["Content-Length"] == "79")
    let image = try await client.send(Request<Data>.get("http://127.0.0.1:8080/logo.png"))
    #expect(image.count == 74)
    #expect(image.starts(with: [0x89, 0x50, 0x4E, 0x47]))
  }

  @Test func `text that a browser read in an old charset is played as it showed it`() async throws {
    let bench = CassetteBench()
    let type = "text/html; charset=iso-8859-1; level=1"
    try bench.write(
      #"""
      {"log":{"version":"1.2","creator":{"name":"WebInspector","version":"1"},"entries":[{
        "startedDateTime":"2026-11-27T22:45:16.172Z","time":5,
        "request":{"method":"GET","url":"\#(bench.baseURL)page","headers":[],"queryString":[]},
        "response":{"status":200,"headers":[{"name":"Content-Type","value":"\#(type)"}],
          "content":{"size":6,"mimeType":"\#(type)","text":"Grüße"}},
        "timings":{"send":0,"wait":1,"receive":1}}]}}
      """#)
    let page = try await bench.client(try bench.cassette(.replay)).send(Request<NetworkResponse>.get("page"))
    #expect(try page.text == "Grüße")
    #expect(page.headers["Content-Type"] == "text/html; level=1")
  }

  @Test(arguments: Browser.allCases) func `a request that failed for the page fails for a client`(browser: Browser)
    async throws
  {
    let client = try client(browser)
    let missing = await #expect(throws: NetworkError.self) { try await client.send(.get("missing")) }
    #expect(missing?.statusCode == 404)
    let cut = await #expect(throws: NetworkError.self) { try await client.send(Request<String>.get("cut")) }
    #expect(cut?.code == .truncatedBody)
    let refused = await #expect(throws: NetworkError.self) {
      try await client.send(.get("http://127.0.0.1:8081/refused"))
    }
    // Firefox does not say why a request failed.
    #expect(refused?.code == (browser == .chromium ? .cannotConnect : .connectionLost))
    let left = await #expect(throws: NetworkError.self) { try await client.send(Request<String>.get("slow")) }
    #expect(left?.code == (browser == .chromium ? .unmatchedRequest : .truncatedBody))
  }

  @Test(arguments: Browser.allCases) func `events come at the end of their time`(browser: Browser) async throws {
    let clock = ManualClock()
    let client = try client(browser, pace: .recorded, clock: clock.requestClock)
    let prices = try await clock.run {
      var prices: [String] = []
      for try await event in try await client.stream(.get("feed")).events { prices.append(event.data) }
      return prices
    }
    #expect(prices == [#"{"price": 100}"#, #"{"price": 101}"#, #"{"price": 102}"#, "end"])
    #expect(clock.now > .milliseconds(100))
    #expect(clock.now < .seconds(1))
  }

  @Test(arguments: Browser.allCases) func `the archive is a recording, with a page`(browser: Browser) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Browsers/\(browser.rawValue).har")
    let recording = try Recording(har: Data(contentsOf: file))
    #expect(recording.calls.count == (browser == .chromium ? 14 : 15))
    let statuses = recording.calls.compactMap { call -> Int? in
      if case .response(let statusCode) = call.outcome { statusCode } else { nil }
    }
    #expect(Set(statuses) == [200, 201, 204, 302, 404])
    let page = String(decoding: recording.waterfall(), as: UTF8.self)
    #expect(page.contains("/v1/orders"))
    #expect(page.contains("secrets in it are shown"))
  }
}
