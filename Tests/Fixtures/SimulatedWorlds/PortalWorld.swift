import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
public import RequestBehaviorsTesting

extension SimulatedWorld {
  /// Verified requests behind a captive portal that responds with 200 to everything.
  public func buildPortal() {
    let state = PortalState()
    let replays = includes("a proxy that repeats an earlier response", chance: 0.3)
    let isPortalStorable = includes("a portal whose page may be stored", chance: 0.3)
    network.serve("api.example") { [unowned self] request in
      if !state.isOver, isPortalStorable, chance(0.2, "storable page") {
        return .status(200, headers: ["Cache-Control": "max-age=60"], text: "<html>Welcome</html>")
      }
      if !state.isOver, replays, let nonce = state.earlierNonce, chance(0.2, "earlier response") {
        return .status(200, headers: ["X-API-Nonce": nonce], text: "repeated")
      }
      var headers: HeaderFields = ["Cache-Control": "max-age=5"]
      state.earlierNonce = request.headers["X-API-Nonce"] ?? state.earlierNonce
      headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
      return .status(200, headers: headers, text: "genuine \(request.url.path())")
    }
    network.troubles = [.portal, .serverError, .lostBefore, .slow]
    network.troubleRate = 0.5
    span = .seconds(20)
    var behaviors = commonBehaviors() + [.nonceVerification()]
    let caches: [any RequestBehavior] = includes("cache") ? [.caching(MemoryCacheStore())] : []
    behaviors += caches
    // Further out than verification, so it must never see the portal's page.
    behaviors.append(
      ClosureBehavior(
        "Accepted", order: .persistence,
        afterSuccess: { response, _ in
          if try !response.text.hasPrefix("genuine") { state.problems.append("a behavior saw the portal's page") }
        }))
    let client = client(baseURL: URL(string: "https://api.example")!, behaviors: behaviors)
    for number in 0..<8 {
      let path = "page\(number % 3)"
      call("call \(number)", mayBeCancelled: true) {
        let text: String = try await client.send(Request<String>.get(RequestPath(encoded: path)))
        if text != "genuine /\(path)" { state.problems.append("call \(number) got \(text)") }
      }
    }
    // A client that verifies nothing, over the same store: what it stores is not for the other.
    if includes("client without verification") {
      let other = self.client(baseURL: URL(string: "https://api.example")!, behaviors: caches)
      for number in 0..<4 {
        call("unverified call \(number)") {
          let _: String = try await other.send(Request<String>.get(RequestPath(encoded: "page\(number % 3)")))
        }
      }
    }
    check("no unverified response is accepted") {
      if let problem = state.problems.first { throw BrokenRule(problem) }
      return true
    }
    lastly("the API can be reached again") { [unowned self] in
      state.isOver = true
      try await clock.sleep(for: .seconds(120))
      let _: String = try await client.send(.get("page0"))
    }
  }
}

/// All of it is used on the simulation's thread.
private final class PortalState: @unchecked Sendable {
  var problems: [String] = []
  var earlierNonce: String?
  var isOver = false
}
