#if os(macOS) || os(Linux)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting

  extension OwnTour {
    /// The number of requests of each way, and how many of them are under way at a time.
    private static let (count, width) = (400, 8)

    /// Sends the same requests over URLSession, over libcurl, and on the thread of libcurl's loop.
    func transports() async throws {
      heading("The same requests in three ways, \(Self.width) at a time")
      let curl = CurlTransport()
      let foundation = NetworkClient(
        baseURL: servers.api.baseURL.appending(path: "v1"), behaviors: [.nonceVerification()])
      let client = NetworkClient(configuration: foundation.configuration, transport: curl)
      let ways = [
        ("URLSession", try await time { try await sendAll(foundation) }),
        ("libcurl", try await time { try await sendAll(client) }),
        ("libcurl, within transport.run { }", try await time { try await curl.run { try await sendAll(client) } }),
      ]
      for (name, time) in ways {
        let micros = Int(time / .microseconds(Self.count))
        print("  \(name.padding(toLength: 36, withPad: " ", startingAt: 0)) \(micros) µs a request")
      }
      #if DEBUG
        print("\n  A release build is faster: swift run -c release QuickStart")
      #endif
      await client.shutdown()
      await foundation.shutdown()
    }

    private func sendAll(_ client: NetworkClient) async throws {
      let requests = (0..<Self.count).map { _ in Request<User>.get("users/octocat") }
      for try await outcome in client.responses(to: requests, atMost: Self.width) {
        let user = try outcome.result.get().value
        try Complaint.unless(user.name == "Mona", "each response is the user's")
      }
    }

    private func time(_ work: () async throws -> Void) async throws -> Duration {
      let clock = ContinuousClock()
      let start = clock.now
      try await work()
      return clock.now - start
    }
  }
#endif
