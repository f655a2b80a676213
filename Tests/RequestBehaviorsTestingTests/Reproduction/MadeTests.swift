// Made of the planted failures by ReproductionTests: UPDATE_REPRODUCTIONS=1 swift test --filter ReproductionTests
// swift-format-ignore-file
import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

enum MadeStatus400 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status400", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 400, after 1 send.
  //
  //   the server answered 400: no 400
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status400Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          400, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 400\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 400)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus401 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status401", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 401, after 1 send.
  //
  //   the server answered 401: no 401
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status401Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          401, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 401\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 401)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus403 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status403", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 403, after 1 send.
  //
  //   the server answered 403: no 403
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status403Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          403, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 403\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 403)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus404 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status404", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 404, after 1 send.
  //
  //   the server answered 404: no 404
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status404Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          404, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 404\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 404)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus409 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status409", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 409, after 1 send.
  //
  //   the server answered 409: no 409
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status409Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          409, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 409\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 409)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus410 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status410", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 410, after 1 send.
  //
  //   the server answered 410: no 410
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status410Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          410, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 410\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 410)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus418 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status418", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 418, after 1 send.
  //
  //   the server answered 418: no 418
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status418Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          418, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 418\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 418)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus422 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status422", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 422, after 1 send.
  //
  //   the server answered 422: no 422
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status422Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          422, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 422\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 422)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus429 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status429", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 429, after 1 send.
  //
  //   the server answered 429: no 429
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status429Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          429, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 429\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 429)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus451 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status451", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 451, after 1 send.
  //
  //   the server answered 451: no 451
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status451Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          451, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 451\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 451)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus500 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status500", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 500, after 1 send.
  //
  //   the server answered 500: no 500
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status500Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          500, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 500\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 500)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus502 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status502", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 502, after 1 send.
  //
  //   the server answered 502: no 502
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status502Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          502, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 502\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 502)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus503 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status503", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 503, after 1 send.
  //
  //   the server answered 503: no 503
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status503Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          503, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 503\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 503)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStatus504 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("Status504", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 504, after 1 send.
  //
  //   the server answered 504: no 504
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct Status504Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          504, headers: ["Content-Type": "application/json"],
          body: Data("{\"message\": \"no 504\", \"token\": \"REDACTED-1\"}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 504)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeCodeCannotConnect {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeCannotConnect", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: cannotConnect, after 1 send.
  //
  //   planted "cannotConnect" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeCannotConnectTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "cannotConnect", "planted \"cannotConnect\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "cannotConnect")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeCodeDnsFailed {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeDnsFailed", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: dnsFailed, after 1 send.
  //
  //   planted "dnsFailed" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeDnsFailedTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "dnsFailed", "planted \"dnsFailed\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "dnsFailed")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeCodeTlsFailed {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeTlsFailed", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: tlsFailed, after 1 send.
  //
  //   planted "tlsFailed" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeTlsFailedTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "tlsFailed", "planted \"tlsFailed\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "tlsFailed")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeCodeConnectionLost {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeConnectionLost", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: connectionLost, after 1 send.
  //
  //   planted "connectionLost" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeConnectionLostTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "connectionLost", "planted \"connectionLost\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "connectionLost")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeCodeTruncatedBody {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeTruncatedBody", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: truncatedBody, after 1 send.
  //
  //   planted "truncatedBody" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeTruncatedBodyTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "truncatedBody", "planted \"truncatedBody\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "truncatedBody")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeCodeBadResponse {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeBadResponse", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: badResponse, after 1 send.
  //
  //   planted "badResponse" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeBadResponseTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "badResponse", "planted \"badResponse\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "badResponse")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeCodeTimedOut {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeTimedOut", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: timedOut, after 1 send.
  //
  //   planted "timedOut" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeTimedOutTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "timedOut", "planted \"timedOut\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "timedOut")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeCodeBodyTooLarge {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeBodyTooLarge", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: bodyTooLarge, after 1 send.
  //
  //   planted "bodyTooLarge" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeBodyTooLargeTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "bodyTooLarge", "planted \"bodyTooLarge\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "bodyTooLarge")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeCodeUnsupportedAddress {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeUnsupportedAddress", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unsupportedAddress, after 1 send.
  //
  //   planted "unsupportedAddress" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeUnsupportedAddressTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "unsupportedAddress", "planted \"unsupportedAddress\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unsupportedAddress")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeCodeTransportFailed {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeTransportFailed", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: transportFailed, after 1 send.
  //
  //   planted "transportFailed" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeTransportFailedTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "transportFailed", "planted \"transportFailed\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "transportFailed")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeCodeOffline {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("CodeOffline", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: offline, after 1 send.
  //
  //   planted "offline" second line \(1)
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct CodeOfflineTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "offline", "planted \"offline\"\n\u{202e}second line \\(1)"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "offline")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeRetriedThreeTimes {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("RetriedThreeTimes", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 503, after 2 sends.
  //
  //   the server answered 503
  //
  // The decisions of its behaviors:
  //   RetryBehavior: retry 1 in 0.25 s, because of 503
  //   RetryBehavior: no retry: the retry budget of https://api.example.com is used up
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RetryBehavior, RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct RetriedThreeTimesTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(503).times(2)
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 503)
      #expect(error?.attempts.count == 2)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeRetriedAfterDifferentFailures {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("RetriedAfterDifferentFailures", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: connectionLost, after 2 sends.
  //
  //   the mock transport's stub GET issues fails with this code
  //
  // The decisions of its behaviors:
  //   RetryBehavior: retry 1 in 0.25 s, because of 503
  //   RetryBehavior: no retry: the retry budget of https://api.example.com is used up
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RetryBehavior, RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct RetriedAfterDifferentFailuresTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(503)
        .fail(failure(
            "connectionLost", "the mock transport's stub GET issues fails with this code"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "connectionLost")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 2)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeRetriedWhenTheHostIsUnknown {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("RetriedWhenTheHostIsUnknown", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: dnsFailed, after 2 sends.
  //
  //   the mock transport's stub GET issues fails with this code
  //
  // The decisions of its behaviors:
  //   RetryBehavior: retry 1 in 0.25 s, because of dnsFailed
  //   RetryBehavior: no retry: the retry budget of https://api.example.com is used up
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RetryBehavior, RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct RetriedWhenTheHostIsUnknownTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "dnsFailed", "the mock transport's stub GET issues fails with this code")).times(2)
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "dnsFailed")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 2)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeRetryAfterTooLong {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("RetryAfterTooLong", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: unacceptableStatus, status 429, after 1 send.
  //
  //   the server answered 429
  //
  // The decisions of its behaviors:
  //   RetryBehavior: no retry: in 126 s the deadline will have passed
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were DeadlineBehavior, RetryBehavior, RedirectsBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct RetryAfterTooLongTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(429, headers: ["Retry-After": "120"])
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 429)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeDeadlineWhileWaiting {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("DeadlineWhileWaiting", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: deadlineExceeded, after 1 send.
  //
  //   the call took longer than its deadline of 5 s
  //
  // The decisions of its behaviors:
  //   DeadlineBehavior: the deadline of 5 s has passed
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were DeadlineBehavior, RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct DeadlineWhileWaitingTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(200).delayed(by: .seconds(86_400))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let clock = ManualClock()
      let error = await #expect(throws: NetworkError.self) {
        try await clock.run { try await send(makeClient(transport: transport, clock: clock.requestClock)) }
      }
      #expect(error?.code.rawValue == "deadlineExceeded")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      let clock = ManualClock()
      try await clock.run { try await send(makeClient(transport: transport, clock: clock.requestClock)) }
    }
  }
}

enum MadeIdleTimeout {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("IdleTimeout", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: timedOut, after 1 send.
  //
  //   no response came within 60.0 seconds; the mock's comes after 600.0 seconds
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct IdleTimeoutTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "timedOut", "no response came within 60.0 seconds; the mock's comes after 600.0 seconds"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "timedOut")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadePostIsNotRepeated {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("PostIsNotRepeated", transport: transport, clock: clock)
  }

  // POST https://api.example.com/v1/issues failed: connectionLost, after 1 send.
  //
  //   the mock transport's stub POST issues fails with this code
  //
  // The decisions of its behaviors:
  //   RetryBehavior: no retry: POST may have taken effect
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RetryBehavior, RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct PostIsNotRepeatedTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.post, "https://api.example.com/v1/issues")
        .fail(failure(
            "connectionLost", "the mock transport's stub POST issues fails with this code"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.post, "https://api.example.com/v1/issues",
          body: .data(Data("{\"title\":\"Crash\",\"password\":\"REDACTED-1\"}".utf8), contentType: "application/json")))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "connectionLost")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeManyRedirects {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("ManyRedirects", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues?page=2 failed: redirectFailed, status 302, after 11 sends.
  //
  //   more than 10 redirects in a row
  //
  // The decisions of its behaviors:
  //   RedirectsBehavior: redirect to https://api.example.com/v1/hop/1
  //   RedirectsBehavior: redirect to https://api.example.com/v1/hop/2
  //   RedirectsBehavior: redirect to https://api.example.com/v1/hop/3
  //   RedirectsBehavior: redirect to https://api.example.com/v1/hop/4
  //   RedirectsBehavior: redirect to https://api.example.com/v1/hop/5
  //   RedirectsBehavior: redirect to https://api.example.com/v1/hop/6
  //   RedirectsBehavior: redirect to https://api.example.com/v1/hop/7
  //   RedirectsBehavior: redirect to https://api.example.com/v1/hop/8
  //   RedirectsBehavior: redirect to https://api.example.com/v1/hop/9
  //   RedirectsBehavior: redirect to https://api.example.com/v1/hop/10
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct ManyRedirectsTests {
    private func transport() throws -> CassetteTransport {
      // Only method and place count, because the bodies of requests are not in it.
      try CassetteTransport(
        "ManyRedirectsTests", mode: .replay, matching: .standard.body { _ in "" }.repeatingLast(), directory: ".")
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues?page=2"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "redirectFailed")
      #expect(error?.statusCode == 302)
      #expect(error?.attempts.count == 11)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeWrongType {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("WrongType", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: decodingFailed, status 200, after 1 send.
  //
  //   Array<PlantedIssue> could not be decoded at [0].id: Expected to decode Int but found a string instead.; the
  //   body is [{"id": "seven", "title": "Crash", "secret": REDACTED}]
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct WrongTypeTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          200, headers: ["Content-Type": "application/json"],
          body: Data("[{\"id\": \"seven\", \"title\": \"Crash\", \"secret\": \"REDACTED-1\"}]".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "decodingFailed")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeMissingKey {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("MissingKey", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: decodingFailed, status 200, after 1 send.
  //
  //   Array<PlantedIssue> could not be decoded at [0].title: the key is missing; the body is [{"id": 7}]
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct MissingKeyTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          200, headers: ["Content-Type": "application/json"],
          body: Data("[{\"id\": 7}]".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "decodingFailed")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeNoJSON {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("NoJSON", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: decodingFailed, status 200, after 1 send.
  //
  //   Array<PlantedIssue> could not be decoded at the top: The given data was not valid JSON.; the body is <20
  //   bytes that are not JSON>
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct NoJSONTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          200, headers: ["Content-Type": "application/json"],
          body: Data("<html>Sign in</html>".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "decodingFailed")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeBrokenJSON {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("BrokenJSON", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: decodingFailed, status 200, after 1 send.
  //
  //   Array<PlantedIssue> could not be decoded at the top: The given data was not valid JSON.; the body is [{"id":
  //   7, "title": "Cr
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct BrokenJSONTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          200, headers: ["Content-Type": "application/json"],
          body: Data("[{\"id\": 7, \"title\": \"Cr".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "decodingFailed")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeNullForText {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("NullForText", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: decodingFailed, status 200, after 1 send.
  //
  //   Array<PlantedIssue> could not be decoded at [0].title: Cannot get value of type String -- found null value
  //   instead; the body is [{"id": 7, "title": null}]
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct NullForTextTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          200, headers: ["Content-Type": "application/json"],
          body: Data("[{\"id\": 7, \"title\": null}]".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "decodingFailed")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeObjectForArray {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("ObjectForArray", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: decodingFailed, status 200, after 1 send.
  //
  //   Array<PlantedIssue> could not be decoded at the top: Expected to decode Array<Any> but found a dictionary
  //   instead.; the body is {"items": []}
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct ObjectForArrayTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          200, headers: ["Content-Type": "application/json"],
          body: Data("{\"items\": []}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "decodingFailed")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeEmptyBody {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("EmptyBody", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: emptyBody, status 200, after 1 send.
  //
  //   the body is empty where Array<PlantedIssue> is needed; use Void or an optional type if that is expected
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct EmptyBodyTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(200, headers: ["Content-Type": "application/json"])
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "emptyBody")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeNoUTF8 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("NoUTF8", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: decodingFailed, status 200, after 1 send.
  //
  //   Array<PlantedIssue> could not be decoded at the top: The given data was not valid JSON.; the body is <4 bytes
  //   of application/json, not UTF-8>
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct NoUTF8Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          200, headers: ["Content-Type": "application/json"],
          body: Data(base64Encoded: "W//+XQ==") ?? Data())
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "decodingFailed")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeAnotherContentType {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("AnotherContentType", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: unexpectedContentType, status 200, after 1 send.
  //
  //   the body is text/html, wanted application/json or text/json or */*+json; set acceptableContentTypes to decode
  //   it all the same; the body is <html>
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct AnotherContentTypeTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          200, headers: ["Content-Type": "text/html"],
          body: Data("<html>".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unexpectedContentType")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeNestedPath {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("NestedPath", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: decodingFailed, status 200, after 1 send.
  //
  //   Array<PlantedIssue> could not be decoded at data.issues: Expected to decode Array<Any> but found a dictionary
  //   instead.; the body is {"data": {"issues": {"id": 1}}}
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RetryBehavior, RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct NestedPathTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(
          200, headers: ["Content-Type": "application/json"],
          body: Data("{\"data\": {\"issues\": {\"id\": 1}}}".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues")
          .decoding(at: "data.issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "decodingFailed")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeLargeBody {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("LargeBody", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: decodingFailed, status 200, after 1 send.
  //
  //   Array<PlantedIssue> could not be decoded at [200].id: the key is missing; the body is [{"id": 0, "title": "an
  //   issue with some words"}, {"id": 1, "title": "an issue with some words"}, {"id": 2, "title": "an issue with
  //   some words"}, {"id": 3, "title": "an issue with some words"}, {"id": 4, "title": "an issue with some words"},
  //   {"id": 5, "titl <cut off, 9894 bytes in all>
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct LargeBodyTests {
    private func transport() throws -> CassetteTransport {
      // Only method and place count, because the bodies of requests are not in it.
      try CassetteTransport(
        "LargeBodyTests", mode: .replay, matching: .standard.body { _ in "" }.repeatingLast(), directory: ".")
    }

    private func send(_ client: NetworkClient) async throws {
      _ = try await client.send(
        Request<Swift.Array<RequestBehaviorsTestingTests.PlantedIssue>>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "decodingFailed")
      #expect(error?.statusCode == 200)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeStreamThatIsCut {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("StreamThatIsCut", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/feed failed: connectionLost, after 1 send.
  //
  //   the mock transport's stream fails with this code
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Secrets are hidden.
  @Suite(.limited) struct StreamThatIsCutTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/feed")
        .stream(
          .chunk(Data("id: 1\ndata: one\n\n".utf8)),
          .fail(failure(
            "connectionLost", "the mock transport's stream fails with this code")),
          status: 200,
          headers: ["Content-Type": "text/event-stream"])
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      let response = try await client.stream(
        Request<NetworkResponse>(.get, "https://api.example.com/v1/feed"))
      for try await _ in response.bytes {}
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "connectionLost")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeStreamThatStalls {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("StreamThatStalls", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/feed failed: timedOut, after 1 send.
  //
  //   the mock's stream waits longer than 60.0 seconds
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Secrets are hidden.
  @Suite(.limited) struct StreamThatStallsTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/feed")
        .stream(
          .chunk(Data("one".utf8)),
          .fail(failure(
            "timedOut", "the mock's stream waits longer than 60.0 seconds", .headReceived)),
          status: 200,
          headers: ["Content-Type": "text/event-stream"])
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      let response = try await client.stream(
        Request<NetworkResponse>(.get, "https://api.example.com/v1/feed"))
      for try await _ in response.bytes {}
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "timedOut")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeStreamThatFailsAtOnce {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("StreamThatFailsAtOnce", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/feed failed: truncatedBody, after 1 send.
  //
  //   the mock transport's stream fails with this code
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Secrets are hidden.
  @Suite(.limited) struct StreamThatFailsAtOnceTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/feed")
        .stream(
          .fail(failure(
            "truncatedBody", "the mock transport's stream fails with this code")),
          status: 200,
          headers: ["Content-Type": "text/event-stream"])
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      let response = try await client.stream(
        Request<NetworkResponse>(.get, "https://api.example.com/v1/feed"))
      for try await _ in response.bytes {}
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "truncatedBody")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeBufferedBodyThatIsCut {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("BufferedBodyThatIsCut", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: connectionLost, after 1 send.
  //
  //   the mock transport's stream fails with this code
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct BufferedBodyThatIsCutTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .fail(failure(
            "connectionLost", "the mock transport's stream fails with this code"))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "connectionLost")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }

    private func failure(
      _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
    ) -> NetworkError {
      var error = NetworkError(NetworkError.Code(rawValue: code), message)
      error.progress = stage.map { NetworkError.Progress($0) }
      return error
    }
  }
}

enum MadeStreamWithABadStatus {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("StreamWithABadStatus", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/feed failed: unacceptableStatus, status 404, after 1 send.
  //
  //   the server answered 404
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct StreamWithABadStatusTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/feed")
        .respond(
          404, headers: ["Content-Type": "text/plain; charset=utf-8"],
          body: Data("no feed".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      let response = try await client.stream(
        Request<NetworkResponse>(.get, "https://api.example.com/v1/feed"))
      for try await _ in response.bytes {}
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 404)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeRedirectToASchemeThatIsRefused {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("RedirectToASchemeThatIsRefused", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: redirectFailed, status 302, after 1 send.
  //
  //   the 302 redirect was not followed: the URL "ftp://files.example.com/x" has the scheme "ftp"; only http and
  //   https are sent
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct RedirectToASchemeThatIsRefusedTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(302, headers: ["Location": "ftp://files.example.com/x"])
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "redirectFailed")
      #expect(error?.statusCode == 302)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeRedirectToA404 {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("RedirectToA404", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: unacceptableStatus, status 404, after 2 sends.
  //
  //   the server answered 404
  //
  // The decisions of its behaviors:
  //   RedirectsBehavior: redirect to https://other.example.com/gone?key=REDACTED
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct RedirectToA404Tests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/issues")
        .respond(301, headers: ["Location": "https://other.example.com/gone?key=REDACTED-1"])
      mock.on(.get, "https://other.example.com/gone")
        .respond(404)
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 404)
      #expect(error?.attempts.count == 2)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeRedirectInACircle {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("RedirectInACircle", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/a failed: redirectFailed, status 302, after 2 sends.
  //
  //   the redirect leads back to GET https://api.example.com/v1/a, a loop
  //
  // The decisions of its behaviors:
  //   RedirectsBehavior: redirect to https://api.example.com/v1/b
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct RedirectInACircleTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/a")
        .respond(302, headers: ["Location": "/v1/b"])
      mock.on(.get, "https://api.example.com/v1/b")
        .respond(302, headers: ["Location": "/v1/a"])
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/a"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "redirectFailed")
      #expect(error?.statusCode == 302)
      #expect(error?.attempts.count == 2)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeRefusedWithoutASend {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("RefusedWithoutASend", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/issues failed: gateClosed, after 0 sends.
  //
  //   the gate is closed, and it did not change within 1 s
  //
  // The decisions of its behaviors:
  //   GateBehavior: held
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were GateBehavior, RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct RefusedWithoutASendTests {
    private func transport() throws -> MockTransport {
      MockTransport()
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/issues"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "gateClosed")
      #expect(error?.statusCode == nil)
      #expect(error?.attempts.count == 0)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeUnknownMethod {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("UnknownMethod", transport: transport, clock: clock)
  }

  // REPORT https://api.example.com/v1/issues failed: unacceptableStatus, status 405, after 1 send.
  //
  //   the server answered 405
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct UnknownMethodTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on("REPORT", "https://api.example.com/v1/issues")
        .respond(405, headers: ["Allow": "GET"])
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>("REPORT", "https://api.example.com/v1/issues", headers: ["X-Plain": "yes"],
          body: .data(Data("a \"quoted\" text".utf8), contentType: "text/plain; charset=utf-8")))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 405)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadePlaceholderInThePath {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("PlaceholderInThePath", transport: transport, clock: clock)
  }

  // DELETE https://api.example.com/v1/issues/a%20b%2F%C3%BC%3F failed: unacceptableStatus, status 409, after 1 send.
  //
  //   the server answered 409
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct PlaceholderInThePathTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.delete, "https://api.example.com/v1/issues/a%20b%2F%C3%BC%3F")
        .respond(
          409, headers: ["Content-Type": "text/plain; charset=utf-8"],
          body: Data("busy".utf8))
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.delete, "https://api.example.com/v1/issues/a%20b%2F%C3%BC%3F"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 409)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

enum MadeTokenThatIsRefused {
  static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
    PlantedFailure.client("TokenThatIsRefused", transport: transport, clock: clock)
  }

  // GET https://api.example.com/v1/me failed: unacceptableStatus, status 401, after 1 send.
  //
  //   the server answered 401: challenge Bearer REDACTED
  //
  // Write makeClient(transport:clock:) once: it returns your client over another transport and clock.
  // Its behaviors were RedirectsBehavior, FixedToken, RecordingBehavior.
  // Secrets are hidden.
  @Suite(.limited) struct TokenThatIsRefusedTests {
    private func transport() throws -> MockTransport {
      let mock = MockTransport()
      mock.on(.get, "https://api.example.com/v1/me")
        .respond(401, headers: ["WWW-Authenticate": "Bearer REDACTED-1"])
      return mock
    }

    private func send(_ client: NetworkClient) async throws {
      try await client.send(
        Request<Void>(.get, "https://api.example.com/v1/me"))
    }

    @Test func `it fails as it did`() async throws {
      let transport = try transport()
      let error = await #expect(throws: NetworkError.self) {
        try await send(makeClient(transport: transport, clock: .immediate))
      }
      #expect(error?.code.rawValue == "unacceptableStatus")
      #expect(error?.statusCode == 401)
      #expect(error?.attempts.count == 1)
    }

    @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
      let transport = try transport()
      try await send(makeClient(transport: transport, clock: .immediate))
    }
  }
}

/// What holds when each failure is mended.
enum MadeTests {
  static let mended: [(name: String, run: @Sendable () async throws -> Void)] = [
    (
      "Status400",
      { try await MadeStatus400.Status400Tests().`it is mended`() }
    ),
    (
      "Status401",
      { try await MadeStatus401.Status401Tests().`it is mended`() }
    ),
    (
      "Status403",
      { try await MadeStatus403.Status403Tests().`it is mended`() }
    ),
    (
      "Status404",
      { try await MadeStatus404.Status404Tests().`it is mended`() }
    ),
    (
      "Status409",
      { try await MadeStatus409.Status409Tests().`it is mended`() }
    ),
    (
      "Status410",
      { try await MadeStatus410.Status410Tests().`it is mended`() }
    ),
    (
      "Status418",
      { try await MadeStatus418.Status418Tests().`it is mended`() }
    ),
    (
      "Status422",
      { try await MadeStatus422.Status422Tests().`it is mended`() }
    ),
    (
      "Status429",
      { try await MadeStatus429.Status429Tests().`it is mended`() }
    ),
    (
      "Status451",
      { try await MadeStatus451.Status451Tests().`it is mended`() }
    ),
    (
      "Status500",
      { try await MadeStatus500.Status500Tests().`it is mended`() }
    ),
    (
      "Status502",
      { try await MadeStatus502.Status502Tests().`it is mended`() }
    ),
    (
      "Status503",
      { try await MadeStatus503.Status503Tests().`it is mended`() }
    ),
    (
      "Status504",
      { try await MadeStatus504.Status504Tests().`it is mended`() }
    ),
    (
      "CodeCannotConnect",
      { try await MadeCodeCannotConnect.CodeCannotConnectTests().`it is mended`() }
    ),
    (
      "CodeDnsFailed",
      { try await MadeCodeDnsFailed.CodeDnsFailedTests().`it is mended`() }
    ),
    (
      "CodeTlsFailed",
      { try await MadeCodeTlsFailed.CodeTlsFailedTests().`it is mended`() }
    ),
    (
      "CodeConnectionLost",
      { try await MadeCodeConnectionLost.CodeConnectionLostTests().`it is mended`() }
    ),
    (
      "CodeTruncatedBody",
      { try await MadeCodeTruncatedBody.CodeTruncatedBodyTests().`it is mended`() }
    ),
    (
      "CodeBadResponse",
      { try await MadeCodeBadResponse.CodeBadResponseTests().`it is mended`() }
    ),
    (
      "CodeTimedOut",
      { try await MadeCodeTimedOut.CodeTimedOutTests().`it is mended`() }
    ),
    (
      "CodeBodyTooLarge",
      { try await MadeCodeBodyTooLarge.CodeBodyTooLargeTests().`it is mended`() }
    ),
    (
      "CodeUnsupportedAddress",
      { try await MadeCodeUnsupportedAddress.CodeUnsupportedAddressTests().`it is mended`() }
    ),
    (
      "CodeTransportFailed",
      { try await MadeCodeTransportFailed.CodeTransportFailedTests().`it is mended`() }
    ),
    (
      "CodeOffline",
      { try await MadeCodeOffline.CodeOfflineTests().`it is mended`() }
    ),
    (
      "RetriedThreeTimes",
      { try await MadeRetriedThreeTimes.RetriedThreeTimesTests().`it is mended`() }
    ),
    (
      "RetriedAfterDifferentFailures",
      { try await MadeRetriedAfterDifferentFailures.RetriedAfterDifferentFailuresTests().`it is mended`() }
    ),
    (
      "RetriedWhenTheHostIsUnknown",
      { try await MadeRetriedWhenTheHostIsUnknown.RetriedWhenTheHostIsUnknownTests().`it is mended`() }
    ),
    (
      "RetryAfterTooLong",
      { try await MadeRetryAfterTooLong.RetryAfterTooLongTests().`it is mended`() }
    ),
    (
      "DeadlineWhileWaiting",
      { try await MadeDeadlineWhileWaiting.DeadlineWhileWaitingTests().`it is mended`() }
    ),
    (
      "IdleTimeout",
      { try await MadeIdleTimeout.IdleTimeoutTests().`it is mended`() }
    ),
    (
      "PostIsNotRepeated",
      { try await MadePostIsNotRepeated.PostIsNotRepeatedTests().`it is mended`() }
    ),
    (
      "ManyRedirects",
      { try await MadeManyRedirects.ManyRedirectsTests().`it is mended`() }
    ),
    (
      "WrongType",
      { try await MadeWrongType.WrongTypeTests().`it is mended`() }
    ),
    (
      "MissingKey",
      { try await MadeMissingKey.MissingKeyTests().`it is mended`() }
    ),
    (
      "NoJSON",
      { try await MadeNoJSON.NoJSONTests().`it is mended`() }
    ),
    (
      "BrokenJSON",
      { try await MadeBrokenJSON.BrokenJSONTests().`it is mended`() }
    ),
    (
      "NullForText",
      { try await MadeNullForText.NullForTextTests().`it is mended`() }
    ),
    (
      "ObjectForArray",
      { try await MadeObjectForArray.ObjectForArrayTests().`it is mended`() }
    ),
    (
      "EmptyBody",
      { try await MadeEmptyBody.EmptyBodyTests().`it is mended`() }
    ),
    (
      "NoUTF8",
      { try await MadeNoUTF8.NoUTF8Tests().`it is mended`() }
    ),
    (
      "AnotherContentType",
      { try await MadeAnotherContentType.AnotherContentTypeTests().`it is mended`() }
    ),
    (
      "NestedPath",
      { try await MadeNestedPath.NestedPathTests().`it is mended`() }
    ),
    (
      "LargeBody",
      { try await MadeLargeBody.LargeBodyTests().`it is mended`() }
    ),
    (
      "StreamThatIsCut",
      { try await MadeStreamThatIsCut.StreamThatIsCutTests().`it is mended`() }
    ),
    (
      "StreamThatStalls",
      { try await MadeStreamThatStalls.StreamThatStallsTests().`it is mended`() }
    ),
    (
      "StreamThatFailsAtOnce",
      { try await MadeStreamThatFailsAtOnce.StreamThatFailsAtOnceTests().`it is mended`() }
    ),
    (
      "BufferedBodyThatIsCut",
      { try await MadeBufferedBodyThatIsCut.BufferedBodyThatIsCutTests().`it is mended`() }
    ),
    (
      "StreamWithABadStatus",
      { try await MadeStreamWithABadStatus.StreamWithABadStatusTests().`it is mended`() }
    ),
    (
      "RedirectToASchemeThatIsRefused",
      { try await MadeRedirectToASchemeThatIsRefused.RedirectToASchemeThatIsRefusedTests().`it is mended`() }
    ),
    (
      "RedirectToA404",
      { try await MadeRedirectToA404.RedirectToA404Tests().`it is mended`() }
    ),
    (
      "RedirectInACircle",
      { try await MadeRedirectInACircle.RedirectInACircleTests().`it is mended`() }
    ),
    (
      "RefusedWithoutASend",
      { try await MadeRefusedWithoutASend.RefusedWithoutASendTests().`it is mended`() }
    ),
    (
      "UnknownMethod",
      { try await MadeUnknownMethod.UnknownMethodTests().`it is mended`() }
    ),
    (
      "PlaceholderInThePath",
      { try await MadePlaceholderInThePath.PlaceholderInThePathTests().`it is mended`() }
    ),
    (
      "TokenThatIsRefused",
      { try await MadeTokenThatIsRefused.TokenThatIsRefusedTests().`it is mended`() }
    ),
  ]
}
