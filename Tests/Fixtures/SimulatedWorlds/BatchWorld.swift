import Foundation
import RequestBehaviors
public import RequestBehaviorsTesting

extension SimulatedWorld {
  /// Requests for users that are merged into one for several, and may be cancelled before it goes or after.
  public func buildBatch() {
    network.serve("users.example") { request in
      let names = request.url.query()?.split(separator: ",").map(String.init) ?? [request.url.lastPathComponent]
      return .status(200, text: names.map { "user \($0)" }.joined(separator: ";"))
    }
    network.troubles = [.refused, .lostBefore, .slow, .serverError]
    let state = BatchState()
    let batch = BatchBehavior(
      window: .milliseconds(number(in: 1..<4_000, "window")), size: number(in: 2..<6, "size"),
      group: { $0.url.path().hasPrefix("/users/") ? "users" : nil },
      merge: { [clock] requests in
        let names = requests.map(\.url.lastPathComponent)
        // A call that shares its request with others ends before its request does.
        for name in names {
          guard let end = state.ends[name], clock.now() - end > .seconds(1) else { continue }
          state.problems.append("\(name) is sent \(clock.now() - end) after the end of its call")
        }
        var merged = requests[0]
        merged.url = try requests[0].url.replacingQuery(by: names.joined(separator: ","))
        return merged
      },
      split: { response, requests in
        try zip(response.text.split(separator: ";"), requests).map { part, _ in
          var own = response
          own.body = .data(Data(part.utf8))
          return .success(own)
        }
      })
    let client = client(
      baseURL: URL(string: "https://users.example")!, behaviors: commonBehaviors() + [batch] + userBehaviors())
    for number in 0..<10 {
      let name = "\(number)"
      call("user \(name)", mayBeCancelled: true) { [clock] in
        defer { state.ends[name] = clock.now() }
        let text: String = try await client.send(Request<String>.get("users/\(number)"))
        if text != "user \(name)" { state.problems.append("user \(name) got \(text)") }
      }
    }
    check("each call gets its own part, and none is sent that has ended") {
      if let problem = state.problems.first { throw BrokenRule(problem) }
      return true
    }
    lastly("users can be asked for") { [unowned self] in
      try await clock.sleep(for: .seconds(120))
      let _: String = try await client.send(Request<String>.get("users/last").with(\.deadline, .seconds(3_600)))
    }
  }
}

extension URL {
  fileprivate func replacingQuery(by query: String) throws -> URL {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { throw BrokenRule("no URL") }
    parts.path = "/several"
    parts.query = query
    guard let url = parts.url else { throw BrokenRule("no URL") }
    return url
  }
}

/// All of it is used on the simulation's thread.
private final class BatchState: @unchecked Sendable {
  /// When the calls ended, by their names.
  var ends: [String: Duration] = [:]
  var problems: [String] = []
}
