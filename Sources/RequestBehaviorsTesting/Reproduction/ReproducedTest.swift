import Foundation
import RequestBehaviors

/// The Swift source of the tests that reproduce a failure.
struct ReproducedTest {
  let name: String
  private let failure: RecordedFailure
  private let recording: Recording
  private let responses: ReproducedResponses
  /// The most sends, and bytes of their bodies, that are written in the source.
  private static let (sendLimit, byteLimit) = (5, 2_048)

  init(_ failure: RecordedFailure, _ recording: Recording, name: String) {
    (self.failure, self.recording, self.name) = (failure, recording, name)
    responses = ReproducedResponses(failure, at: recording.startedAt)
  }

  /// The cassette; `nil` where the responses are in the source.
  var cassette: Data? {
    let isSmall = responses.all.count <= Self.sendLimit && responses.bodyBytes <= Self.byteLimit
    return isSmall ? nil : responses.cassette
  }

  var text: String {
    """
    \(imports.joined(separator: "\n"))

    \(heading.map { "// \($0)".trimmingSuffix(" ") }.joined(separator: "\n"))
    @Suite struct \(name)Tests {
    \(setup)

    \(sending)

      @Test func `it fails as it did`() async throws {
        let transport = try transport()
    \(failing)
        #expect(error?.code.rawValue == \(SwiftSource.literal(failure.code, indentation: 4)))
        #expect(error?.statusCode == \(failure.statusCode.map { "\($0)" } ?? "nil"))
        #expect(error?.attempts.count == \(failure.sendCount))
      }

      @Test(.disabled("when it is mended, delete this line and the test above")) func `it is mended`() async throws {
        let transport = try transport()
    \(mended)
      }\(failureHelper)
    }

    """
  }

  // MARK: Above

  private var imports: [String] {
    ["import Foundation", "import RequestBehaviors", "import RequestBehaviorsTesting", "import Testing"]
      + wanted.modules.map { "@testable import \($0)" }
  }

  private var heading: [String] {
    let status = failure.statusCode.map { ", status \($0)" } ?? ""
    let count = failure.sendCount
    let sends = count == 1 ? "1 send" : "\(count) sends"
    // An archive may come from anyone, and a line break would end the comment.
    let headline = "\(failure.method) \(failure.url) failed: \(failure.code)\(status), after \(sends)."
    var lines = [SwiftSource.comment(headline), ""]
    lines += wrapped(failure.message, indentation: "  ")
    let decisions = recording.calls.flatMap(\.decisions)
    if !decisions.isEmpty {
      lines += ["", "The decisions of its behaviors:"]
      for decision in decisions.prefix(20) {
        lines += wrapped("\(decision.source): \(decision.message)", indentation: "  ")
      }
    }
    lines += ["", "Write makeClient(transport:clock:) once: it returns your client over another transport and clock."]
    if !failure.behaviors.isEmpty {
      lines += wrapped("Its behaviors were \(failure.behaviors.joined(separator: ", ")).", indentation: "")
    }
    lines += wanted.note
    return lines + ["Secrets are hidden."]
  }

  /// Returns a text as the lines of a comment.
  private func wrapped(_ text: String, indentation: String) -> [String] {
    var lines: [String] = []
    var line = indentation
    for word in SwiftSource.comment(text.prefix(1_000)).split(separator: " ") {
      if line.count + word.count > 110, line.contains(where: { $0 != " " }) {
        lines.append(line)
        line = indentation
      }
      line += (line.allSatisfy { $0 == " " } ? "" : " ") + word
    }
    return lines + [line]
  }

  // MARK: The transport

  private var setup: String {
    guard cassette == nil else {
      return """
          private func transport() throws -> CassetteTransport {
            // Only method and place count, because the bodies of requests are not in it.
            try CassetteTransport(
              "\(name)Tests", mode: .replay, matching: .standard.body { _ in "" }.repeatingLast(), directory: ".")
          }
        """
    }
    var lines = ["  private func transport() throws -> MockTransport {"]
    lines.append("    \(responses.all.isEmpty ? "" : "let mock = ")MockTransport()")
    lines += responses.stubs
    if !responses.all.isEmpty { lines.append("    return mock") }
    return (lines + ["  }"]).joined(separator: "\n")
  }

  private var failureHelper: String {
    guard cassette == nil, responses.hasFailures else { return "" }
    return """


        private func failure(
          _ code: String, _ message: String, _ stage: NetworkError.Progress.Stage? = nil
        ) -> NetworkError {
          var error = NetworkError(NetworkError.Code(rawValue: code), message)
          error.progress = stage.map { NetworkError.Progress($0) }
          return error
        }
      """
  }

  // MARK: The call

  /// The type of the value that the response was to be decoded as.
  private var wanted: WantedType { WantedType(failure.isStreamed ? nil : failure.wantedType) }

  private var sending: String {
    let lines: [String]
    if failure.isStreamed {
      lines = [
        "    let response = try await client.stream(\(request("Request<NetworkResponse>")))",
        "    for try await _ in response.bytes {}",
      ]
    } else if let type = wanted.name {
      lines = ["    _ = try await client.send(\(request("Request<\(type)>")))"]
    } else {
      lines = ["    try await client.send(\(request("Request<Void>")))"]
    }
    return (["  private func send(_ client: NetworkClient) async throws {"] + lines + ["  }"]).joined(separator: "\n")
  }

  private func request(_ type: String) -> String {
    let url = SwiftSource.literal(failure.url, indentation: 6)
    var parts = [SwiftSource.method(failure.method), url]
    if !failure.fields.isEmpty { parts.append("headers: \(SwiftSource.fields(failure.fields))") }
    if let body { parts.append(body) }
    let made = "\n      \(type)(\(parts.joined(separator: ", ").replacing(", \n", with: ",\n")))"
    guard let path = failure.decodingPath else { return made }
    return made + "\n        .decoding(at: \(SwiftSource.literal(path, indentation: 8)))"
  }

  private var body: String? {
    guard let body = failure.body else { return nil }
    return "\n        body: .data(\(SwiftSource.expression(body, indentation: 10)), "
      + "contentType: \(SwiftSource.literal(failure.bodyType, indentation: 10)))"
  }

  /// Whether time decides: then the tests run in virtual time, and otherwise without any.
  private var needsTime: Bool {
    failure.code == NetworkError.Code.deadlineExceeded.rawValue
      || (cassette == nil && responses.all.contains { $0.kind == .never })
  }

  private var failing: String {
    guard needsTime else {
      return """
            let error = await #expect(throws: NetworkError.self) {
              try await send(makeClient(transport: transport, clock: .immediate))
            }
        """
    }
    return """
          let clock = ManualClock()
          let error = await #expect(throws: NetworkError.self) {
            try await clock.run { try await send(makeClient(transport: transport, clock: clock.requestClock)) }
          }
      """
  }

  private var mended: String {
    guard needsTime else { return "    try await send(makeClient(transport: transport, clock: .immediate))" }
    return """
          let clock = ManualClock()
          try await clock.run { try await send(makeClient(transport: transport, clock: clock.requestClock)) }
      """
  }
}

/// The type of a value, as far as a test can name it.
private struct WantedType {
  /// The name; `nil` if no value was decoded.
  let name: String?
  /// The modules that a test imports for it.
  let modules: [String]
  /// The lines that tell the user what to replace.
  let note: [String]

  init(_ reflected: String?) {
    guard let reflected else {
      (name, modules, note) = (nil, [], [])
      return
    }
    let isPlain = reflected.allSatisfy { $0.isLetter || $0.isNumber || "_.<>, ".contains($0) }
    guard isPlain else {
      // A private type has no name that a test could use.
      (name, modules) = ("String", [])
      note = ["Replace String by the type of the value, which is private: \(SwiftSource.comment(reflected))."]
      return
    }
    name = reflected
    note = []
    let words = reflected.split { !($0.isLetter || $0.isNumber || "_.".contains($0)) }
    let known: Set<Substring> = ["Swift", "Foundation", "RequestBehaviors", "FoundationEssentials"]
    modules = Set(words.compactMap { $0.split(separator: ".").first }).subtracting(known).sorted().map(String.init)
  }
}

extension SwiftSource {
  /// Returns a method as a member or a literal.
  static func method(_ method: RequestMethod) -> String {
    let known: [RequestMethod] = [.get, .head, .post, .put, .patch, .delete, .options, .trace, .query]
    return known.contains(method) ? ".\(method.rawValue.lowercased())" : literal(method.rawValue, indentation: 6)
  }

  /// Returns header fields as a dictionary literal.
  static func fields(_ fields: HeaderFields) -> String {
    let pairs = fields.map { "\(literal($0.name, indentation: 8)): \(literal($0.value, indentation: 8))" }
    return "[\(pairs.joined(separator: ", "))]"
  }
}

extension String {
  fileprivate func trimmingSuffix(_ suffix: Character) -> String {
    var text = self[...]
    while text.last == suffix { text.removeLast() }
    return String(text)
  }
}
