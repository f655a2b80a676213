import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

/// A failure that is made on purpose, to see that the test which is made of it fails in the same way.
struct PlantedFailure: Sendable {
  /// The name of the namespace of the made tests.
  let name: String
  private var behaviors: @Sendable () -> [any RequestBehavior] = { [] }
  private var fail: @Sendable (NetworkClient) async throws -> Void = {
    try await $0.send(.get("issues", query: ["page": 2]))
  }
  private let serve: @Sendable (MockTransport) -> Void

  init(_ name: String, serve: @escaping @Sendable (MockTransport) -> Void) {
    (self.name, self.serve) = (name, serve)
  }

  /// Sets the behaviors, which are made again for each client.
  func with(_ behaviors: @escaping @Sendable () -> [any RequestBehavior]) -> PlantedFailure {
    var copy = self
    copy.behaviors = behaviors
    return copy
  }

  /// Sets what fails; by default a request for the second page of issues.
  func failing(_ fail: @escaping @Sendable (NetworkClient) async throws -> Void) -> PlantedFailure {
    var copy = self
    copy.fail = fail
    return copy
  }

  /// The date at which all of them happen.
  static let date = Date(timeIntervalSince1970: 1_795_396_495)

  static func client(
    _ behaviors: [any RequestBehavior], transport: any Transport, clock: RequestClock
  ) -> NetworkClient {
    var configuration = RequestConfiguration(
      baseURL: URL(string: "https://api.example.com/v1/") ?? URL(filePath: "/"), behaviors: behaviors)
    configuration.clock = clock
    return NetworkClient(configuration: configuration, transport: transport)
  }

  /// Whether a recorder is in the list, so that more is known.
  var isRecorded: Bool { !name.hasPrefix("Code") && !name.hasPrefix("Retr") }

  /// Behaviors that mend whatever fails.
  @TaskLocal static var mend: [any RequestBehavior] = []

  /// The client of the made tests.
  static func client(
    _ name: String, transport: any Transport, clock: RequestClock
  ) -> NetworkClient {
    let behaviors = all.first { $0.name == name }?.behaviors() ?? []
    return client(behaviors + mend, transport: transport, clock: clock)
  }

  /// Makes it happen, in virtual time.
  func reproduction() async throws -> Reproduction? {
    let mock = MockTransport(baseURL: URL(string: "https://api.example.com/v1/"))
    serve(mock)
    let recorder = CallRecorder(bodies: .upTo(65_536))
    let behaviors = behaviors() + (isRecorded ? [RecordingBehavior(recorder)] : [])
    let clock = ManualClock(date: PlantedFailure.date)
    let client = PlantedFailure.client(behaviors, transport: mock, clock: clock.requestClock)
    do {
      try await clock.run { try await fail(client) }
    } catch let error as NetworkError {
      return error.reproduction(named: name)
    }
    return nil
  }
}

struct PlantedIssue: Codable, Sendable {
  let id: Int
  let title: String
}

extension RetryBehavior {
  /// Retries without chance, so that the made text is the same each time.
  static func plain(_ policy: RetryPolicy = .standard) -> RetryBehavior { RetryBehavior(policy, random: { 0.5 }) }
}

extension PlantedFailure {
  /// All of them; each is in the file of made tests.
  static let all: [PlantedFailure] = statuses + transportFailures + repeats + contents + streams + others

  private static let statuses = [400, 401, 403, 404, 409, 410, 418, 422, 429, 451, 500, 502, 503, 504].map { status in
    PlantedFailure("Status\(status)") { mock in
      mock.on(.get, "issues").respond(status, jsonText: #"{"message": "no \#(status)", "token": "c4nary-body"}"#)
    }
  }

  private static let transportFailures = [
    NetworkError.Code.cannotConnect, .dnsFailed, .tlsFailed, .connectionLost, .truncatedBody, .badResponse, .timedOut,
    .bodyTooLarge, .unsupportedAddress, .transportFailed, .offline,
  ].map { code in
    PlantedFailure("Code\(code.rawValue.prefix(1).uppercased())\(code.rawValue.dropFirst())") { mock in
      mock.on(.get, "issues").fail(code, "planted \"\(code)\"\n\u{202E}second line \\(1)")
    }
  }

  private static let repeats = [
    PlantedFailure("RetriedThreeTimes") { $0.on(.get, "issues").respond(503) }.with { [RetryBehavior.plain()] },
    PlantedFailure("RetriedAfterDifferentFailures") { mock in
      mock.on(.get, "issues").respond(503).fail(.connectionLost).respond(500, text: "gone")
    }.with { [RetryBehavior.plain()] },
    PlantedFailure("RetriedWhenTheHostIsUnknown") { $0.on(.get, "issues").fail(.dnsFailed) }.with {
      [RetryBehavior.plain()]
    },
    PlantedFailure("RetryAfterTooLong") { mock in
      mock.on(.get, "issues").respond(429, headers: ["Retry-After": "120"])
    }.with { [RetryBehavior.plain(), DeadlineBehavior(.seconds(30))] },
    PlantedFailure("DeadlineWhileWaiting") { mock in
      mock.on(.get, "issues").respond(200).delayed(by: .seconds(30))
    }.with { [DeadlineBehavior(.seconds(5))] },
    PlantedFailure("IdleTimeout") { mock in mock.on(.get, "issues").respond(200).delayed(by: .seconds(600)) },
    PlantedFailure("PostIsNotRepeated") { mock in
      mock.on(.post, "issues").fail(.connectionLost)
    }.with { [RetryBehavior.plain()] }.failing { client in
      // As text, because the members of a dictionary have no order.
      let body = Data(#"{"title":"Crash","password":"c4nary-request"}"#.utf8)
      try await client.send(.post("issues", body: .data(body, contentType: "application/json")))
    },
    PlantedFailure("ManyRedirects") { mock in
      for page in 0..<30 {
        mock.on(.get, page == 0 ? "issues" : "hop/\(page)").respond(302, headers: ["Location": "/v1/hop/\(page + 1)"])
      }
    },
  ]

  private static let contents = [
    decoding("WrongType", #"[{"id": "seven", "title": "Crash", "secret": "c4nary-body"}]"#),
    decoding("MissingKey", #"[{"id": 7}]"#), decoding("NoJSON", "<html>Sign in</html>"),
    decoding("BrokenJSON", #"[{"id": 7, "title": "Cr"#), decoding("NullForText", #"[{"id": 7, "title": null}]"#),
    decoding("ObjectForArray", #"{"items": []}"#), decoding("EmptyBody", ""),
    decoding("NoUTF8", Data([0x5B, 0xFF, 0xFE, 0x5D])),
    decoding("AnotherContentType", Data("<html>".utf8), type: "text/html"),
    PlantedFailure("NestedPath") { mock in
      mock.on(.get, "issues").respond(200, jsonText: #"{"data": {"issues": {"id": 1}}}"#)
    }.failing { client in
      _ = try await client.send(Request<[PlantedIssue]>.get("issues").decoding(at: "data.issues"))
    }.with { [RetryBehavior.plain()] },
    PlantedFailure("LargeBody") { mock in
      let items = (0..<200).map { #"{"id": \#($0), "title": "an issue with some words"}"# }
      mock.on(.get, "issues").respond(200, jsonText: "[\(items.joined(separator: ", ")), {}]")
    }.failing { client in
      _ = try await client.send(Request<[PlantedIssue]>.get("issues"))
    },
  ]

  private static func decoding(_ name: String, _ body: String) -> PlantedFailure {
    decoding(name, Data(body.utf8), type: "application/json")
  }

  private static func decoding(_ name: String, _ body: Data, type: String = "application/json") -> PlantedFailure {
    PlantedFailure(name) { mock in
      mock.on(.get, "issues").respond(200, headers: ["Content-Type": type], body: body)
    }.failing { client in
      _ = try await client.send(Request<[PlantedIssue]>.get("issues"))
    }
  }

  private static let streams = [
    streamed("StreamThatIsCut", "id: 1\ndata: one\n\n", .fail(.connectionLost)),
    streamed("StreamThatStalls", "one", .wait(.seconds(600)), "two"),
    streamed("StreamThatFailsAtOnce", .fail(.truncatedBody)),
    PlantedFailure("BufferedBodyThatIsCut") { mock in
      mock.on(.get, "issues").stream(
        "[{\"id\": 1", .fail(.connectionLost), headers: ["Content-Type": "application/json"])
    }.failing { client in
      _ = try await client.send(Request<[PlantedIssue]>.get("issues"))
    },
    PlantedFailure("StreamWithABadStatus") { mock in
      mock.on(.get, "feed").respond(404, text: "no feed")
    }.failing { client in
      for try await _ in try await client.stream(.get("feed")).bytes {}
    },
  ]

  private static func streamed(_ name: String, _ steps: MockStreamStep...) -> PlantedFailure {
    PlantedFailure(name) { mock in
      mock.on(.get, "feed").stream(steps: steps, headers: ["Content-Type": "text/event-stream"])
    }.failing { client in
      for try await _ in try await client.stream(.get("feed").with(\.idleTimeout, .seconds(60))).bytes {}
    }
  }

  private static let others = [
    PlantedFailure("RedirectToASchemeThatIsRefused") { mock in
      mock.on(.get, "issues").respond(302, headers: ["Location": "ftp://files.example.com/x"])
    }.failing { client in
      try await client.send(.get("issues"))
    },
    PlantedFailure("RedirectToA404") { mock in
      mock.on(.get, "issues").respond(301, headers: ["Location": "https://other.example.com/gone?key=c4nary-key"])
      mock.on(.get, "https://other.example.com/gone").respond(404)
    }.failing { client in
      try await client.send(.get("issues"))
    },
    PlantedFailure("RedirectInACircle") { mock in
      mock.on(.get, "a").respond(302, headers: ["Location": "/v1/b"])
      mock.on(.get, "b").respond(302, headers: ["Location": "/v1/a"])
    }.failing { client in
      try await client.send(.get("a"))
    },
    PlantedFailure("RefusedWithoutASend") { _ in
    }.with { [GateBehavior(closedGate)] }.failing { client in
      try await client.send(.get("issues"))
    },
    PlantedFailure("UnknownMethod") { mock in
      mock.on("REPORT", "issues").respond(405, headers: ["Allow": "GET"])
    }.failing { client in
      try await client.send(
        Request<Void>("REPORT", "issues", headers: ["X-Plain": "yes"], body: .text("a \"quoted\" text")))
    },
    PlantedFailure("PlaceholderInThePath") { mock in
      mock.on(.delete).respond(409, text: "busy")
    }.failing { client in
      try await client.send(.delete("issues/\("a b/ü?")"))
    },
    PlantedFailure("TokenThatIsRefused") { mock in
      mock.on(.get, "me").respond(401, headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\""])
    }.with { [FixedToken()] }.failing { client in
      try await client.send(.get("me"))
    },
  ]

  private static let closedGate = Gate(isOpen: false, longestWait: .seconds(1))
}

/// Adds a token to each request.
struct FixedToken: RequestBehavior {
  let order = BehaviorOrder.authentication

  func headers(for request: NetworkRequest) -> HeaderFields { ["Authorization": "Bearer c4nary-token"] }
}

/// Answers everything with an empty list, as code does that has been mended.
struct Mend: RequestBehavior {
  let order = BehaviorOrder.first

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let body = request.options.decodingPath == nil ? "[]" : #"{"data": {"issues": []}}"#
    return NetworkResponse(
      request: request, statusCode: 200, headers: ["Content-Type": "application/json"], body: .data(Data(body.utf8)))
  }
}
