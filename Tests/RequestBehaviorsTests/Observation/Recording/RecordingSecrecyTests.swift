import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// One secret at every place of a call, in every encoding: none of it may be in what a recording writes.
@Suite(.limited) struct RecordingSecrecyTests {
  private static let secret = "c4nary-S3cret-longer"

  private static let forms: [String] = {
    let base64 = (0..<3).map { shift in
      String((Data(repeating: 0x3A, count: shift) + Data(secret.utf8)).base64EncodedString().dropFirst(4).dropLast(4))
    }
    return [secret, "c4nary", "S3cret"] + base64
  }()

  private let recorder = CallRecorder(bodies: .upTo(10_000))
  private let mock = MockTransport()

  private var client: NetworkClient {
    NetworkClient(baseURL: mock.baseURL, behaviors: [.recording(recorder)], transport: mock)
  }

  private func expectNoSecret(sourceLocation: SourceLocation = #_sourceLocation) {
    let recording = recorder.recording
    #expect(!recording.calls.isEmpty, sourceLocation: sourceLocation)
    let outputs = [recording.har(), recording.waterfall()].map { String(decoding: $0, as: UTF8.self) }
    for output in outputs {
      let found = Self.forms.filter { output.contains($0) }
      #expect(found.isEmpty, sourceLocation: sourceLocation)
    }
  }

  /// The secret without a name that tells what it is.
  private var echoes: String {
    let percent = Self.secret.replacing("-", with: "%2D")
    let base64 = Data("user:\(Self.secret)".utf8).base64EncodedString()
    let nested = #"{"a": "{\"b\": \"\#(Self.secret)\"}"}"#
    return "said \(Self.secret) and \(percent) and \(base64) and \(nested)."
  }

  @Test(arguments: ["Authorization", "X-API-Key", "Cookie"])
  func `a recording hides a secret in a field, which the server repeats everywhere`(name: String) async throws {
    mock.on(.get, "x").respond(
      400, headers: ["Set-Cookie": "sid=\(Self.secret)", "ETag": Self.secret, "Content-Type": "text/plain"],
      body: Data(echoes.utf8))
    let value = name == "Authorization" ? "Bearer \(Self.secret)" : Self.secret
    _ = try? await client.send(.get("x").with(header: name, value))
    expectNoSecret()
  }

  @Test func `a recording hides a secret in the query, and in the target of a redirect`() async throws {
    mock.on(.get, "x").respond(302, headers: ["Location": "/v1/y?access_token=\(Self.secret)"])
    mock.on(.get, "y").respond(text: echoes)
    _ = try? await client.send(.get("x", query: ["api_key": Self.secret]))
    expectNoSecret()
  }

  @Test func `a recording hides a secret in a form and in a JSON body`() async throws {
    mock.on(.post, "x").respond(text: echoes).times(2)
    _ = try? await client.send(.post("x", body: .form(["password": Self.secret])))
    _ = try? await client.send(.post("x", body: .json(["user": ["password": Self.secret]])))
    expectNoSecret()
  }

  @Test func `a recording hides a secret that becomes known after it was seen`() async throws {
    mock.on(.get, "early").respond(text: echoes)
    mock.on(.post, "token").respond(jsonText: #"{"access_token": "\#(Self.secret)"}"#)
    _ = try await client.send(Request<String>.get("early"))
    _ = try await client.send(Request<Data>.post("token"))
    expectNoSecret()
  }

  @Test func `a recording hides a secret that a behavior adds to the call`() async throws {
    mock.on(.get, "*").respond(text: "fine")
    let adding = ClosureBehavior("adding", order: .middle) { request, next in
      request.call.addSecret(Self.secret)
      request.call.record("used \(Self.secret)", from: "Adding")
      return try await next(request)
    }
    try await client.with { $0.behaviors.append(adding) }.send(.get("x", query: ["page": Self.secret]))
    expectNoSecret()
  }

  @Test func `a recording hides a secret that a chunk border divides`() async throws {
    let half = Self.secret.prefix(7)
    mock.on(.get, "feed").stream(
      [Data("data: \(half)".utf8), Data("\(Self.secret.dropFirst(7))\n\n".utf8)],
      headers: ["Content-Type": "text/event-stream"])
    let request = Request<NetworkResponse>.get("feed").with(header: "X-API-Key", Self.secret)
    for try await _ in try await client.stream(request).bytes {}
    expectNoSecret()
  }

  @Test(arguments: ["text/plain; charset=iso-8859-1", nil])
  func `a recording hides a secret in an error text that is not UTF-8, or was cut within a character`(
    type: String?
  ) async throws {
    let recorder = CallRecorder(bodies: .upTo(43))
    let text = "password=\(Self.secret), Jos\u{E9} kann "
    let isLatin1 = type != nil
    let body = isLatin1 ? try #require(text.data(using: .isoLatin1)) : Data((text + "é and more").utf8)
    #expect(String(data: body.prefix(43), encoding: .utf8) == nil)
    mock.on(.get, "x").respond(500, headers: type.map { ["Content-Type": $0] } ?? [:], body: body).times(2)
    var configuration = RequestConfiguration(
      baseURL: mock.baseURL, behaviors: [.recording(recorder), .retry(RetryPolicy(maximumRetries: 1))])
    configuration.clock = .immediate
    let client = NetworkClient(configuration: configuration, transport: mock)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    let har = String(decoding: try #require(error?.recording()).har(), as: UTF8.self)
    #expect(!har.contains("c4nary"))
    let bodies = har.matches(of: /"base64": "([^"]*)"/).compactMap { Data(base64Encoded: String($0.output.1)) }
    #expect(!bodies.isEmpty)
    for body in bodies {
      #expect(body.firstRange(of: Data("c4nary".utf8)) == nil)
      #expect(body.firstRange(of: Data("kann".utf8)) != nil)
    }
  }

  @Test func `a recording hides a JSON Web Token in the path and the fields of a failure`() async throws {
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.\(Self.secret)"
    mock.on(.get, "*").respond(500, headers: ["X-Result": token])
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("verify/\(token)")) }
    let har = String(decoding: try #require(error?.recording()).har(), as: UTF8.self)
    #expect(!har.contains("c4nary"))
  }

  @Test func `the recording of a failure has its own calls, and hides the secrets of other calls`()
    async throws
  {
    mock.on(.get, "before").respond(text: "fine")
    mock.on(.get, "x").respond(500, headers: ["ETag": Self.secret], body: Data(echoes.utf8))
    try await client.send(.get("before").with(header: "X-API-Key", Self.secret))
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    let recording = try #require(error?.recording())
    #expect(recording.calls.map(\.endpoint) == ["x"])
    #expect(recording.droppedCalls == 0)
    let har = String(decoding: recording.har(), as: UTF8.self)
    for form in Self.forms { #expect(!har.contains(form)) }
  }

  @Test func `a recording hides a secret in the message of an error`() async throws {
    mock.on(.get, "x").fail(NetworkError(.cannotConnect, "no route for key \(Self.secret)"))
    _ = try? await client.send(.get("x").with(header: "X-API-Key", Self.secret))
    expectNoSecret()
  }
}
