import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth2
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Ten thousand random responses to a device: half to its request for codes, half to its question about the user.
@Suite(.limited) struct DeviceFuzzTests {
  private static let codes: [(String, [MemberValue])] = [
    ("device_code", [.text("D"), .text("D"), .text("")]),
    ("user_code", [.text("WDJB-MJHT"), .text("é"), .text("a\u{1B}[2J"), .text("x\u{202E}y"), .text("\u{2029}")]),
    (
      "verification_uri",
      [
        .text("https://id.example/device"), .text("http://id.example"), .text("javascript:alert(1)"),
        .text("https://"), .text("file:///etc/passwd"),
      ]
    ), ("verification_url", [.text("https://id.example/old")]),
    ("verification_uri_complete", [.text("https://id.example/device?c=1"), .text("data:text/html,x")]),
    ("expires_in", [.number("600"), .text("600"), .number("0"), .number("1e300"), .text("soon"), .number("-5")]),
    ("interval", [.number("5"), .number("0"), .number("1e300"), .text("5"), .number("0.5")]),
  ]
  private static let validPages = ["https://id.example/device", "http://id.example", "https://id.example/old"]

  private let server = DeviceServer()
  private let store = InMemoryTokenStore(AccessToken("old"))

  private var flow: OAuth2DeviceFlow {
    var configuration = RequestConfiguration(baseURL: url("https://id.example/"))
    configuration.clock = .immediate
    let client = NetworkClient(configuration: configuration, transport: server)
    let endpoint = TokenEndpoint(
      OAuth2Server(
        token: url("https://id.example/token"), deviceAuthorization: url("https://id.example/device")),
      clientID: "tv")
    let session = TokenSession(source: .refreshToken(endpoint), store: store)
    return OAuth2DeviceFlow(session: session, endpoint: endpoint, over: client)
  }

  // MARK: - The codes

  /// The code of the error that a response to the request for codes leads to; `nil` if it has codes.
  private static func code(_ response: RandomResponse) -> NetworkError.Code? {
    if let code = TokenRules.refusal(response) { return code }
    guard response.status < 300 else { return .unacceptableStatus }
    guard let members = TokenRules.object(response), members["device_code"]?.asText?.isEmpty == false,
      let userCode = members["user_code"]?.asText,
      ["WDJB-MJHT", "é", " ", "😀"].contains(userCode.prefix(9))
        || userCode.hasPrefix("xxx"),
      let page = members["verification_uri"]?.asText ?? members["verification_url"]?.asText,
      validPages.contains(page), isLifetime(members["expires_in"])
    else { return .oauth2InvalidResponse }
    return nil
  }

  private static func isLifetime(_ value: MemberValue?) -> Bool {
    let seconds: Double?
    switch value {
    case nil, .null?: return true
    case .number(let digits)?: seconds = Double(digits)
    case .text(let text)?: seconds = Double(text)
    default: seconds = nil
    }
    return seconds.map { $0 > 0 && $0.isFinite } ?? false
  }

  @Test(arguments: 1...5) func `codes are read by the rules`(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var counts: [NetworkError.Code?: Int] = [:]
    var wrong: [String] = []
    let flow = flow
    for _ in 1...1_000 {
      let isRefusal = Int.random(in: 0..<4, using: &random) == 0
      let response = RandomResponse.make(
        isRefusal ? [("error", TokenResponseFuzzTests.errors)] : Self.codes,
        isRefusal ? [400, 400, 401, 200] : [200, 200, 200, 201], using: &random)
      server.codes.withLock { $0 = response }
      let expected = Self.code(response)
      let code = await errorCode { _ = try await flow.begin() }
      counts[expected, default: 0] += 1
      if code != expected, !response.isDoubtful { wrong.append("\(String(describing: code)) for \(response)") }
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(9).joined(separator: "\n"))")
    #expect(counts[nil, default: 0] > 10, "\(counts)")
    #expect(counts.count >= 4)
  }

  // MARK: - The questions

  /// The outcome of a response to the question whether the user has decided.
  private enum Outcome: Equatable {
    case token(String)
    /// The device continues to poll.
    case waits
    case error(NetworkError.Code)
  }

  private static func outcome(_ response: RandomResponse) -> Outcome {
    if (300..<400).contains(response.status) { return .waits }
    let word = TokenRules.word(response)
    if ["authorization_pending", "slow_down", "temporarily_unavailable"].contains(word) { return .waits }
    if word == nil, [408, 425].contains(response.status) { return .waits }
    if response.status < 300, case .token(let value, _) = TokenRules.outcome(response) { return .token(value) }
    guard TokenRules.object(response) != nil, response.status != 429, response.status < 500 else { return .waits }
    return .error(TokenRules.code(response) ?? .oauth2InvalidResponse)
  }

  @Test(arguments: 6...10) func `a pending response and a portal do not end the wait, and refusals do`(seed: Int)
    async throws
  {
    var random = SeededGenerator(seed: UInt64(seed))
    let words =
      TokenResponseFuzzTests.errors + ["authorization_pending", "slow_down", "expired_token"].map { .text($0) }
    var counts: [Substring: Int] = [:]
    var wrong: [String] = []
    server.codes.withLock { $0 = DeviceServer.validCodes }
    for _ in 1...1_000 {
      let isRefusal = Bool.random(using: &random)
      let response = RandomResponse.make(
        isRefusal ? [("error", words)] : TokenResponseFuzzTests.choices,
        isRefusal ? [400, 400, 401, 429, 200, 503] : [200, 200, 200, 302], using: &random)
      server.answers.withLock { $0 = [response, DeviceServer.token] }
      try await store.save(AccessToken("old"))
      let flow = flow
      let code = await errorCode { try await flow.signIn { _ in } }
      let value = try await store.load()?.value ?? "none"
      let found: Outcome = code.map { .error($0) } ?? (value == "NEXT" ? .waits : .token(value))
      let expected = Self.outcome(response)
      counts["\(expected)".prefix { $0 != "(" }, default: 0] += 1
      let isRight = found == expected && (code == nil || value == "old")
      if !isRight, !response.isDoubtful { wrong.append("\(found) \(value) for \(response)") }
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(9).joined(separator: "\n"))")
    #expect(counts.count == 3)
    #expect(counts.values.allSatisfy { $0 > 30 }, "\(counts)")
  }
}

/// A server of a device, whose responses a test replaces.
private struct DeviceServer: Transport {
  let codes = Locked<RandomResponse?>(nil)
  /// The responses to the questions, in turn.
  let answers = Locked<[RandomResponse]>([])

  static let validCodes = valid(
    #"{"device_code":"D","user_code":"W","verification_uri":"https://id.example/device","interval":5}"#)
  static let token = valid(#"{"access_token":"NEXT"}"#)

  private static func valid(_ text: String) -> RandomResponse {
    RandomResponse(status: 200, type: "application/json", body: Data(text.utf8), members: [:])
  }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    let response =
      request.url.path() == "/device"
      ? codes.withLock { $0 } : answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    return response?.response(to: request) ?? NetworkResponse(request: request, statusCode: 404)
  }

  func shutdown() async {}
}
