import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

struct PropertyLists: BodyDecoder, BodyEncoder {
  let contentType = "application/x-plist"
  var contentTypes: [String] { [contentType] }

  func encode<Value: Encodable>(_ value: Value) throws -> Data {
    try PropertyListEncoder().encode(value)
  }

  func decode<Value: Decodable>(
    _ type: Value.Type, from data: Data
  ) throws -> Value {
    try PropertyListDecoder().decode(type, from: data)
  }
}

func message(for error: NetworkError) -> String {
  switch error.code {
  case .cannotConnect, .dnsFailed, .connectionLost, .timedOut:
    "There is no connection. Try again."
  case .unacceptableStatus where error.statusCode == 404:
    "That does not exist any more."
  case .unacceptableStatus where error.statusCode == 422:
    (try? error.decode(Problem.self).title) ?? "That is not valid."
  case .intercepted:
    "Sign in to the network first."
  case .tokenUnavailable where error.isTransient:
    "There is no connection. Try again."
  case .notSignedIn, .signedOut, .tokenUnavailable:
    "Sign in again."
  default:
    "Something went wrong (\(error.code))."
  }
}

extension Request where Value == User {
  static func user(_ login: String) -> Self { .get("users/\(login)") }
}

extension Request where Value == [Issue] {
  static func issues(state: String, page: Int? = nil) -> Self {
    .get("issues", query: ["state": state, "page": page])
  }
}

/// Waits for a signal, and gives the calls under way 20 seconds.
func endOnSignal(_ number: Int32, _ client: NetworkClient) async {
  signal(number, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: number)
  await withCheckedContinuation { continuation in
    source.setEventHandler {
      source.cancel()
      continuation.resume()
    }
    source.resume()
  }
  await client.shutdown(gracePeriod: .seconds(20))
}

/// The samples of "Configuring".
@Suite(.limited) struct ConfiguringTests {
  private struct Repo: Codable, Equatable, Sendable {
    var fullName: String
    var pushedAt: Date
  }

  private let login = "octocat"
  private let mock = MockTransport(baseURL: baseURL)

  @Test func `a configuration has settings of all requests`() throws {
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.behaviors = [.logging(), .acceptLanguage()]
    configuration.options.idleTimeout = .seconds(20)
    let client = NetworkClient(configuration: configuration)
    #expect(try client.pipeline(for: Request<Void>.get("x")).entries.count == 3)
  }

  @Test func `keys and dates follow the strategies, and any media type can be accepted`() async throws {
    var configuration = RequestConfiguration(baseURL: baseURL)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601
    configuration.decoder = decoder

    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .iso8601
    configuration.encoder = encoder

    configuration.options.acceptableContentTypes = []
    mock.on(.post, "repos").respond { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "text/html"],
        body: .data(request.body?.data ?? Data()))
    }
    let client = NetworkClient(configuration: configuration, transport: mock)
    let repo = Repo(fullName: "a/b", pushedAt: Date(timeIntervalSince1970: 0))
    let returned: Repo = try await client.send(.post("repos", body: .json(repo)))
    #expect(returned == repo)
    let text = String(decoding: mock.sent.first?.body?.data ?? Data(), as: UTF8.self)
    #expect(text.contains(#""full_name":"#))
    #expect(text.contains(#""pushed_at":"1970-01-01T00:00:00Z""#))
  }

  @Test func `a client ends on a signal`() async throws {
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    // The signal that ends a server would end children of other tests, too.
    let end = Task { await endOnSignal(SIGUSR2, client) }
    mock.on(.get, "x").respond()
    _ = signal(SIGUSR2, SIG_IGN)
    // A signal that comes before the source has begun is ignored.
    let hasEnded = try await eventually {
      kill(getpid(), SIGUSR2)
      return (try? await client.send(.get("x"))) == nil
    }
    #expect(hasEnded)
    await end.value
  }

  @Test func `another format is encoded and decoded`() async throws {
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.decoder = PropertyLists()
    configuration.encoder = PropertyLists()
    mock.on(.post, "users").respond { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/x-plist"],
        body: .data(request.body?.data ?? Data()))
    }
    let client = NetworkClient(configuration: configuration, transport: mock)
    let user: User = try await client.send(.post("users", body: .encoding(User(name: "Mona"))))
    #expect(user.name == "Mona")
    #expect(mock.sent.first?.headers["Accept"] == "application/x-plist")
    #expect(mock.sent.first?.headers["Content-Type"] == "application/x-plist")
  }

  @Test func `an environment is chosen for all requests`() async throws {
    var configuration = RequestConfiguration(baseURL: baseURL)
    configuration.options.environment = .staging
    mock.on(.get, "https://staging.example.com/status").respond()
    try await NetworkClient(configuration: configuration, transport: mock).send(.get("status"))
    #expect(mock.sent.first?.headers["X-Stage"] == "1")
  }

  @Test func `bodies, times and statuses are chosen for a request`() async throws {
    let photo = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).jpg")
    try Data("photo".utf8).write(to: photo)
    defer { try? FileManager.default.removeItem(at: photo) }
    mock.on(.put, "me/photo").respond(204)
    mock.on(.get, "export").respond(text: "bytes")
    mock.on(.get, "job").respond(409)
    mock.on(.get, "users/*").respond(404)
    let client = NetworkClient(baseURL: baseURL, transport: mock)

    try await client.send(
      .put("me/photo", body: .file(photo, contentType: "image/jpeg")))
    let export: Data = try await client.send(
      .get("export").with(\.idleTimeout, .seconds(300)))
    let answer: NetworkResponse = try await client.send(
      .get("job").with(\.acceptableStatuses, .success.union([409])))
    let found: User? = try await client.send(
      .get("users/\(login)").nilWhenNotFound())
    #expect(mock.sent[0].headers["Content-Type"] == "image/jpeg")
    #expect(mock.sent[1].idleTimeout == .seconds(300))
    #expect(export == Data("bytes".utf8))
    #expect(answer.statusCode == 409)
    #expect(found == nil)
  }

  @Test(arguments: [
    (404, "That does not exist any more."), (422, "no such name"), (500, "Something went wrong (unacceptableStatus)."),
  ])
  func `an error becomes a message by its code`(status: Int, expected: String) async throws {
    mock.on().respond(status, jsonText: #"{"title":"no such name"}"#)
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let error = try #require(await #expect(throws: NetworkError.self) { try await client.send(.get("x")) })
    #expect(message(for: error) == expected)
  }

  @Test func `the message for a missing token names the connection or asks the user to sign in`() {
    let lost = NetworkError(.tokenUnavailable, "", underlyingError: NetworkError(.connectionLost, ""))
    #expect(message(for: lost) == "There is no connection. Try again.")
    #expect(message(for: NetworkError(.tokenUnavailable, "")) == "Sign in again.")
  }

  @Test func `a typed endpoint says what it returns`() async throws {
    mock.on(.get, "users/octocat").respond(jsonText: #"{"name":"Mona"}"#)
    mock.on(.get, "issues", query: ["state": "open"]).respond(jsonText: "[]")
    let client = NetworkClient(baseURL: baseURL, transport: mock)
    let user = try await client.send(.user("octocat"))
    let issues = try await client.send(.issues(state: "open"))
    #expect(user.name == "Mona")
    #expect(issues.isEmpty)
  }
}
