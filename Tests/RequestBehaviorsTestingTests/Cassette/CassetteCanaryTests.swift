import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// One secret at each place of a call and in each encoding: none of it may be in a file or an error.
@Suite(.limited) struct CassetteCanaryTests {
  private static let secret = "c4nary+S3cret/long=er"

  /// The place that makes the value a secret.
  enum Place: String, CaseIterable {
    case authorization, key, cookie, query, form, json, token, setCookie, interim, late

    /// Whether the value goes to the server.
    var isSent: Bool { [.authorization, .key, .cookie, .query, .form, .json].contains(self) }
  }

  /// The form in which the server repeats the value, without a name that tells what it is.
  enum Encoding: String, CaseIterable {
    case plain, percent, base64, nested, divided, message

    var chunks: [String] {
      let secret = CassetteCanaryTests.secret
      switch self {
      case .plain, .message: return ["said \(secret)."]
      case .percent: return ["said \(secret.replacing("+", with: "%2B").replacing("/", with: "%2f"))."]
      case .base64: return ["said \(Data("user:\(secret)".utf8).base64EncodedString())."]
      case .nested: return [#"{"b": "\#(secret.replacing("/", with: #"\/"#))"}"#]
      case .divided: return ["said \(secret.prefix(9))", "\(secret.dropFirst(9))."]
      }
    }
  }

  /// The texts that show a part of the secret.
  private static let forms: [String] = {
    let base64 = (0..<3).map { shift in
      String((Data(repeating: 0x3A, count: shift) + Data(secret.utf8)).base64EncodedString().dropFirst(4).dropLast(4))
    }
    return ["c4nary", "S3cret"] + base64
  }()

  private let bench = CassetteBench()
  private let recorder = CallRecorder(bodies: .upTo(10_000))

  private static func server(_ place: Place, _ encoding: Encoding) -> MockTransport {
    MockTransport { request in
      var chunks = encoding.chunks
      let isJSON = encoding == .nested || encoding == .message || place == .token
      if isJSON {
        chunks = chunks.map { $0.replacing(#"\"#, with: #"\\"#).replacing("\"", with: #"\""#) }
        let token = place == .token ? "\"access_token\": \"\(secret)\", " : ""
        // The message of an error has words of this member, but not of others.
        let name = encoding == .message ? "message" : "said"
        chunks = ["{\(token)\"\(name)\": \""] + chunks + ["\"}"]
      }
      let type = isJSON ? "application/json" : "text/plain"
      var response = NetworkResponse(
        request: request, statusCode: 500, headers: ["Content-Type": type],
        body: .stream(ByteStream(chunks: chunks.map { Data($0.utf8) })))
      if place == .setCookie { response.headers.append("Set-Cookie", "sid=\(secret); Path=/") }
      if place == .interim {
        response.interimResponses = [InterimResponse(statusCode: 103, headers: ["X-API-Key": secret])]
      }
      return response
    }
  }

  private static func request(_ place: Place, to path: RequestPath) -> Request<Void> {
    switch place {
    case .authorization: .get(path, headers: ["Authorization": "Bearer \(secret)"])
    case .key: .get(path, headers: ["X-API-Key": secret])
    case .cookie: .get(path, headers: ["Cookie": "sid=\(secret)"])
    case .query: .get(path, query: ["api_key": .some(secret)])
    case .form: .post(path, body: .form(["password": .some(secret)]))
    case .json: .post(path, body: .json(["user": ["password": secret]]))
    default: .get(path)
    }
  }

  private func expectNoSecret(in data: Data, _ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let text = String(decoding: data, as: UTF8.self)
    let found = Self.forms.filter { text.contains($0) }
    #expect(found.isEmpty, "\(what)", sourceLocation: sourceLocation)
  }

  private func files() throws -> [URL] {
    try FileManager.default.subpathsOfDirectory(atPath: bench.folder.path(percentEncoded: false))
      .map { bench.folder.appending(path: $0) }.filter { !$0.hasDirectoryPath }
  }

  @Test(arguments: Place.allCases, Encoding.allCases)
  func `files and errors do not contain the secret`(place: Place, encoding: Encoding) async throws {
    let recording = try bench.cassette(.recordAll, over: Self.server(place, encoding))
    let client = bench.client(recording, [.recording(recorder)])
    let failure = await #expect(throws: NetworkError.self) { try await client.send(Self.request(place, to: "x")) }
    let error = try #require(failure)
    if place == .late { error.request?.call.addSecret(Self.secret) }
    expectNoSecret(in: Data(error.description.utf8), "the error")
    // Archives and pages do not contain interim responses.
    if place != .interim {
      let reproduction = try #require(error.reproduction())
      expectNoSecret(in: reproduction.har, "the archive of the failure")
      expectNoSecret(in: reproduction.waterfall, "the page of the failure")
      expectNoSecret(in: Data(reproduction.test.utf8), "the test")
      expectNoSecret(in: reproduction.cassette ?? Data(), "the cassette of the failure")
      // A recorder lets go of a call that has ended, and learns from the later ones.
      if place == .late { _ = try? await client.send(Self.request(.key, to: "later")) }
      expectNoSecret(in: recorder.recording.har(), "the archive")
      expectNoSecret(in: recorder.recording.waterfall(), "the page")
    }
    try recording.save()
    await recording.shutdown()
    let recorded = try files()
    #expect(recorded.map(\.lastPathComponent) == ["tape.har"])
    for file in recorded { expectNoSecret(in: try Data(contentsOf: file), file.lastPathComponent) }
  }

  @Test(arguments: Place.allCases.filter(\.isSent))
  func `the file plays with another secret, and an error without an entry shows neither secret`(place: Place)
    async throws
  {
    try await bench.record(over: Self.server(place, .plain)) { client in
      _ = try? await client.send(Self.request(place, to: "x"))
    }
    let playing = try bench.cassette(.replay)
    let client = bench.client(playing)
    let played = await #expect(throws: NetworkError.self) { try await client.send(Self.request(place, to: "x")) }
    #expect(played?.code == .unacceptableStatus)
    try playing.verify()
    for path: RequestPath in ["x", "other"] {
      let error = await #expect(throws: NetworkError.self) { try await client.send(Self.request(place, to: path)) }
      #expect(error?.code == .unmatchedRequest)
      expectNoSecret(in: Data((error?.description ?? "").utf8), "the error")
    }
    let unmatched = #expect(throws: CassetteError.self) { try playing.verify() }
    expectNoSecret(in: Data((unmatched?.description ?? "").utf8), "the error of verify()")
  }
}
