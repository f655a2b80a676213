import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
public import RequestBehaviorsTesting

/// Pages with versions, entity tags and a lifetime; a PUT makes the next version.
final class PageServer: @unchecked Sendable {
  // Unchecked, because only the simulation's thread uses it.

  private(set) var versions: [String: Int] = [:]
  private var history: [String: [Duration]] = [:]
  private let clock: RequestClock

  init(clock: RequestClock) { self.clock = clock }

  /// The time until which a version was the current one.
  func end(of version: Int, _ path: String) -> Duration? {
    let times = history[path] ?? []
    return version < times.count ? times[version] : nil
  }

  func respond(_ request: NetworkRequest) -> SimulatedResponse {
    let path = request.url.path()
    let user =
      request.headers["X-Account"] ?? request.headers["Authorization"].map { String($0.dropFirst(6)) } ?? "public"
    if request.method == .put {
      history[path, default: []].append(clock.now())
      versions[path, default: 0] += 1
      return .status(204)
    }
    let version = versions[path, default: 0]
    let tag = "\"\(user)-\(version)\""
    let fields: HeaderFields = [
      "Cache-Control": "private, max-age=10", "ETag": tag,
      "Vary": request.headers["X-Account"] == nil ? "Accept" : "X-Account",
    ]
    if request.headers["If-None-Match"] == tag { return .status(304, headers: fields) }
    return .json(#"{"user":"\#(user)","version":\#(version)}"#, headers: fields)
  }
}

private struct Page: Decodable, Sendable {
  let user: String
  let version: Int
}

extension SimulatedWorld {
  /// Readers and writers over one cache, by two clients, for two users.
  public func buildCache() {
    let server = PageServer(clock: clock)
    network.serve("pages.example") { server.respond($0) }
    network.troubles = [.refused, .lostBefore, .slow, .serverError, .cut]
    span = .seconds(40)
    let store = MemoryCacheStore()
    let url = URL(string: "https://pages.example")!
    let sharesStore = includes("shared store")
    var behaviors = commonBehaviors(isNeverReset: false) + userBehaviors()
    // Several users side by side, whose requests differ by nothing but what this adds further in.
    let hasAccounts = includes("accounts", chance: 0.3)
    if hasAccounts {
      behaviors.append(
        ClosureBehavior(
          "Account", order: .authentication, headers: { _ in ["Authorization": "Basic \(Reader.user)"] },
          scope: { _ in Reader.user }))
    }
    let clients = (0..<2).map { number in
      client(
        baseURL: url,
        behaviors: behaviors + [.caching(number == 0 || sharesStore ? store : MemoryCacheStore())])
    }
    // A write through one client does not end the flights of another's coalescing.
    let usesBoth = sharesStore && !behaviors.contains { $0 is CoalescingBehavior }
    let state = PageState()
    // A user's own credential that no owner covers: neither stored nor shared.
    let credential = includes("user's credential")
    for number in 0..<8 {
      let which = usesBoth ? self.number(in: 0..<2, "client of reader \(number)") : 0
      let (path, user) = ("page\(self.number(in: 0..<2, "page of reader \(number)"))", "user\(number % 2)")
      call("read \(number)", mayBeCancelled: true) { [unowned self] in
        let (begun, written) = (clock.now(), state.written["/\(path)"] ?? 0)
        let plain = Request<Page>.get(RequestPath(encoded: path))
        let ticket = ClosureBehavior(
          "Ticket", order: .authentication, headers: { _ in ["Authorization": "Basic \(user)"] })
        let request = credential ? plain.with(ticket) : plain.with(header: "X-Account", user)
        let response = try await Reader.$user.withValue(user) {
          try await clients[which].response(for: hasAccounts ? plain : request)
        }
        let page = response.value
        // A reader may join a request that has been under way for long.
        let asked = response.http.source == .coalesced ? min(begun, response.http.timings.sent) : begun
        if page.user != user { state.problems.append("\(user) got the page of \(page.user)") }
        if page.version < written {
          state.problems.append("read \(number) began after version \(written) was written, and got \(page.version)")
        }
        if let end = server.end(of: page.version, "/\(path)"), asked - end > .seconds(11) {
          state.problems.append("read \(number) got version \(page.version) at \(asked), which ended at \(end)")
        }
      }
    }
    for number in 0..<3 {
      let path = "page\(self.number(in: 0..<2, "page of writer \(number)"))"
      let which = usesBoth ? self.number(in: 0..<2, "client of writer \(number)") : 0
      call("write \(number)") {
        try await clients[which].send(Request<Void>.put(RequestPath(encoded: path)))
        state.written["/\(path)"] = max(state.written["/\(path)"] ?? 0, server.versions["/\(path)"] ?? 0)
      }
    }
    if includes("reset", chance: 0.3) { action("reset") { await clients[0].reset() } }
    check("no reader gets a page that is another's, or too old") {
      if let problem = state.problems.first { throw BrokenRule(problem) }
      return true
    }
    lastly("pages can be read") { [unowned self] in
      try await clock.sleep(for: .seconds(120))
      let _: Page = try await clients[0].send(.get("page0"))
    }
  }
}

/// The user whose account the requests of a task are for.
private enum Reader {
  @TaskLocal static var user = "public"
}

/// All of it is used on the simulation's thread.
private final class PageState: @unchecked Sendable {
  var written: [String: Int] = [:]
  var problems: [String] = []
}
