import Foundation
import RequestBehaviors
public import RequestBehaviorsTesting

extension SimulatedWorld {
  /// Verified requests behind a captive portal that responds with 200 to everything.
  public func buildPortal() {
    network.serve("api.example") { request in
      var headers: HeaderFields = ["Cache-Control": "max-age=5"]
      headers["X-API-Nonce"] = request.headers["X-API-Nonce"]
      return .status(200, headers: headers, text: "genuine \(request.url.path())")
    }
    network.troubles = [.portal, .serverError, .lostBefore, .slow]
    network.troubleRate = 0.5
    span = .seconds(20)
    let accepted = Accepted()
    var behaviors = commonBehaviors() + [.nonceVerification()]
    if includes("cache") { behaviors.append(.caching(MemoryCacheStore())) }
    // Further out than verification, so it must never see the portal's page.
    behaviors.append(
      ClosureBehavior(
        "Accepted", order: .persistence,
        afterSuccess: { response, _ in
          if try !response.text.hasPrefix("genuine") { accepted.problems.append("a behavior saw the portal's page") }
        }))
    let client = client(baseURL: URL(string: "https://api.example")!, behaviors: behaviors)
    for number in 0..<8 {
      let path = "page\(number % 3)"
      call("call \(number)", mayBeCancelled: true) {
        let text: String = try await client.send(Request<String>.get(RequestPath(encoded: path)))
        if text != "genuine /\(path)" { accepted.problems.append("call \(number) got \(text)") }
      }
    }
    check("no unverified response is accepted") {
      if let problem = accepted.problems.first { throw BrokenRule(problem) }
      return true
    }
    lastly("the API can be reached again") { [unowned self] in
      try await clock.sleep(for: .seconds(120))
      let _: String = try await client.send(.get("page0"))
    }
  }
}

/// All of it is used on the simulation's thread.
private final class Accepted: @unchecked Sendable { var problems: [String] = [] }
