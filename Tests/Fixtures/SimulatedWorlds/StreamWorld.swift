import Foundation
import RequestBehaviors
public import RequestBehaviorsTesting

/// A feed of 12 numbered events that goes on after the last id a client names.
private func feed(_ request: NetworkRequest, pause: Duration) -> SimulatedResponse {
  let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
  guard last < 12 else { return .status(204) }
  let chunks = (last + 1...12).map { "data: event\ndata: number \($0)\nid: \($0)\n\n" }
  return .stream(chunks, every: pause, headers: ["Content-Type": "text/event-stream"])
}

extension SimulatedWorld {
  /// Readers of an event stream that reconnect, and readers of long bodies.
  public func buildStreams() {
    let pause = Duration.milliseconds(number(in: 1..<900, "pause"))
    network.serve("feed.example") { request in
      request.url.path() == "/events"
        ? feed(request, pause: pause)
        : .stream((0..<6).map { "line \($0)\n" }, every: pause)
    }
    network.troubles = [.refused, .lostBefore, .cut, .serverError]
    let client = client(
      baseURL: URL(string: "https://feed.example")!,
      behaviors: commonBehaviors(hasDeadline: false) + userBehaviors())
    let state = EventState()
    for reader in 0..<2 {
      call("events \(reader)", mayBeCancelled: true) {
        var last = 0
        for try await event in client.events(.get("events"), reconnecting: EventReconnection(delay: .milliseconds(200)))
        {
          last += 1
          if event.data != "event\nnumber \(last)" {
            state.problems.append("reader \(reader) got \(event.data) instead of event \(last)")
          }
        }
      }
      let limit =
        includes("deadline of lines \(reader)") ? Duration.seconds(number(in: 1..<6, "limit of lines \(reader)")) : nil
      let isSlow = includes("slow reader of lines \(reader)")
      call("lines \(reader)", mayBeCancelled: true) { [clock] in
        var count = 0
        var request = Request<NetworkResponse>.get("lines")
        // The body may last longer: it must then end with an error.
        if let limit { request = request.with(.deadline(limit)) }
        for try await line in try await client.stream(request).lines {
          if line != "line \(count)" { state.problems.append("reader \(reader) got \(line) instead of line \(count)") }
          count += 1
          // The body may end with an error meanwhile.
          if isSlow { try await clock.sleep(for: .milliseconds(700)) }
        }
        if count != 6 { state.problems.append("reader \(reader) got \(count) lines of 6 without an error") }
      }
      call("one line \(reader)") {
        for try await _ in try await client.stream(.get("lines")).lines { break }
      }
    }
    check("each event and line comes once, in order") {
      if let problem = state.problems.first { throw BrokenRule(problem) }
      return true
    }
  }
}

/// All of it is used on the simulation's thread.
private final class EventState: @unchecked Sendable { var problems: [String] = [] }
