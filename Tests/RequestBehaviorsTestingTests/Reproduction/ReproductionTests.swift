import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// Tests that are made of failures.
@Suite(.limited) struct ReproductionTests {
  private let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "MadeTests.swift")

  /// The file with all made tests, each in a namespace with a client of its own.
  private func madeFile() async throws -> (text: String, cassettes: [String: Data]) {
    var parts: [String] = []
    var made: [String] = []
    var cassettes: [String: Data] = [:]
    for planted in PlantedFailure.all {
      guard let reproduction = try await planted.reproduction() else {
        Issue.record("\(planted.name) does not fail")
        continue
      }
      made.append(planted.name)
      cassettes["\(planted.name)Tests.har"] = reproduction.cassette
      let lines = reproduction.test.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.contains("import ") }.drop { $0.isEmpty }.map { $0.isEmpty ? "" : "  \($0)" }
      let body = lines.joined(separator: "\n").replacing("@Suite struct", with: "@Suite(.limited) struct")
      parts.append(
        """
        enum Made\(planted.name) {
          static func makeClient(transport: any Transport, clock: RequestClock) -> NetworkClient {
            PlantedFailure.client("\(planted.name)", transport: transport, clock: clock)
          }

        \(body.trimmingCharacters(in: .newlines))
        }
        """)
    }
    let list = made.map { name in
      """
          (
            "\(name)",
            { try await Made\(name).\(name)Tests().`it is mended`() }
          ),
      """
    }
    parts.append(
      """
      /// What holds when each failure is mended.
      enum MadeTests {
        static let mended: [(name: String, run: @Sendable () async throws -> Void)] = [
      \(list.joined(separator: "\n"))
        ]
      }
      """)
    let head = """
      // Made of the planted failures by ReproductionTests: UPDATE_REPRODUCTIONS=1 swift test --filter ReproductionTests
      // swift-format-ignore-file
      import Foundation
      import RequestBehaviors
      import RequestBehaviorsTesting
      import Testing
      """
    return (([head] + parts).joined(separator: "\n\n") + "\n", cassettes)
  }

  @Test func `the checked-in tests match those that the failures make`() async throws {
    let (text, cassettes) = try await madeFile()
    let folder = source.deletingLastPathComponent()
    if ProcessInfo.processInfo.environment["UPDATE_REPRODUCTIONS"] != nil {
      try Data(text.utf8).write(to: source)
      for (name, data) in cassettes { try data.write(to: folder.appending(path: name)) }
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let known = try String(contentsOf: source, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == known.count)
    let first = zip(lines, known).enumerated().first { $1.0 != $1.1 }
    #expect(first == nil, "line \((first?.offset ?? 0) + 1): \(first?.element.0 ?? "")")
    for (name, data) in cassettes { #expect(try Data(contentsOf: folder.appending(path: name)) == data) }
  }

  @Test func `a made test fails before the mend, and passes after it`() async {
    #expect(MadeTests.mended.count >= 50)
    for (name, run) in MadeTests.mended {
      await #expect(throws: NetworkError.self, "\(name) holds before the mend") { try await run() }
      await #expect(throws: Never.self, "\(name) does not hold after the mend") {
        try await PlantedFailure.$mend.withValue([Mend()]) { try await run() }
      }
    }
  }

  @Test(arguments: PlantedFailure.all.map(\.name)) func `the files do not contain a secret`(name: String) async throws {
    let planted = try #require(PlantedFailure.all.first { $0.name == name })
    let reproduction = try #require(try await planted.reproduction())
    let files = [
      reproduction.har, reproduction.waterfall, Data(reproduction.test.utf8), reproduction.cassette ?? Data(),
    ]
    for file in files { #expect(!String(decoding: file, as: UTF8.self).contains("c4nary")) }
    #expect(try Recording(har: reproduction.har).calls.count >= 1)
  }

  @Test(arguments: PlantedFailure.all.map(\.name))
  func `the archive alone makes the same test`(name: String) async throws {
    let planted = try #require(PlantedFailure.all.first { $0.name == name })
    let reproduction = try #require(try await planted.reproduction())
    let handedOn = try #require(try Recording(har: reproduction.har).reproduction(named: name))
    #expect(handedOn.test == reproduction.test)
    #expect(handedOn.cassette == reproduction.cassette)
    #expect(handedOn.waterfall == reproduction.waterfall)
  }

  @Test func `an archive without a failure has no reproduction`() throws {
    var recording = Recording(startedAt: PlantedFailure.date)
    recording.calls = [RecordedCall(number: 1, method: "GET", url: "https://api.example.com/v1/a", startedAt: .zero)]
    #expect(try Recording(har: recording.har()).reproduction() == nil)
  }

  @Test func `a hostile archive puts no code into the test`() async throws {
    let planted = try #require(PlantedFailure.all.first { $0.name == "LargeBody" })
    let har = try #require(try await planted.reproduction()).har
    let attack = #"\"\n  }\nimport Evil\n*/ \u202e {\"\"\""#
    let members = [
      "code", "message", "wantedType", "decodingPath", "bodyType", "method", "url", "stage", "value", "name",
    ]
    for member in members {
      let hostile = String(decoding: har, as: UTF8.self)
        .replacing(try Regex(#""\#(member)": "(?:[^"\\]|\\.)*""#), with: #""\#(member)": "\#(attack)""#)
      guard let recording = try? Recording(har: Data(hostile.utf8)) else { continue }
      let lines = recording.reproduction()?.test.split(separator: "\n") ?? []
      let isImported = lines.contains { $0.hasPrefix("import Evil") }
      #expect(!isImported, "\(member)")
      let isTurned = lines.contains { $0.unicodeScalars.contains("\u{202E}") }
      #expect(!isTurned, "\(member)")
    }
  }

  @Test func `all files are written`() async throws {
    let folder = URL.temporaryDirectory.appending(path: "reproduction-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let planted = try #require(PlantedFailure.all.first { $0.name == "LargeBody" })
    try await planted.reproduction()?.write(to: folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
    #expect(names == ["LargeBodyTests.har", "LargeBodyTests.swift", "largeBody.har", "largeBody.html"])
  }

  @Test func `the parts of a response are not shown`() async throws {
    let mock = MockTransport()
    let body = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nc4nary-word\r\n--b--\r\n"
    mock.on().respond(500, headers: ["Content-Type": "multipart/form-data; boundary=b"], body: Data(body.utf8))
    let client = NetworkClient(baseURL: mock.baseURL, transport: mock)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.reproduction()?.test.contains("c4nary") == false)
  }

  @Test func `the rules of the app's own redactor hold`() async throws {
    let mock = MockTransport()
    mock.on().respond(500, jsonText: #"{"iban": "c4nary-number"}"#)
    let client = NetworkClient(baseURL: mock.baseURL, transport: mock)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    var redactor = Redactor.standard
    redactor.sensitivePointers.insert("/iban")
    #expect(error?.reproduction()?.test.contains("c4nary") == true)
    #expect(error?.reproduction(redactor: redactor)?.test.contains("c4nary") == false)
  }

  @Test func `an error without a request has no reproduction`() {
    #expect(NetworkError(.timedOut, "as planned").reproduction() == nil)
  }

  @Test func `an invalid Swift name is replaced or cleaned`() async throws {
    let mock = MockTransport()
    mock.on().respond(503)
    let client = NetworkClient(baseURL: mock.baseURL, transport: mock)
    let error = await #expect(throws: NetworkError.self) { try await client.send(.get("x")) }
    #expect(error?.reproduction(named: "7 of 9")?.name == "Failure")
    #expect(error?.reproduction(named: "Check-out: card")?.name == "Checkoutcard")
  }
}
