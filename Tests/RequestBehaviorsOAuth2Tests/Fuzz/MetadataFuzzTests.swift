import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@testable import RequestBehaviorsOAuth2

/// Ten thousand random metadata documents (RFC 8414 §3.2).
@Suite(.limited) struct MetadataFuzzTests {
  private static let issuer = "https://id.example"
  /// URLs of endpoints, and whether they may be used.
  private static let places: [String: Bool] = [
    "https://id.example/x": true, "HTTPS://ID.example/x?tenant=1": true, "http://127.0.0.1:8080/x": true,
    "http://id.example/x": false, "https://id.example/x#y": false, "javascript:alert(1)": false, "x": false,
    "https://": false, "//id.example/x": false,
  ]
  private static let choices: [(String, [MemberValue])] = {
    let good = Self.places.filter(\.value).keys.sorted().map { MemberValue.text($0) }
    let all = good + good + good + Self.places.keys.sorted().map { .text($0) }
    return [
      ("issuer", [.text(issuer), .text(issuer), .text(issuer), .text(issuer), .text(issuer + "/")]),
      ("token_endpoint", all), ("authorization_endpoint", all), ("revocation_endpoint", all),
      ("device_authorization_endpoint", all), ("pushed_authorization_request_endpoint", all),
      ("code_challenge_methods_supported", [.list(["S256"]), .list(["plain"]), .text("S256")]),
      ("authorization_response_iss_parameter_supported", [.flag(true), .flag(false)]),
      ("require_pushed_authorization_requests", [.flag(true), .text("true")]),
      ("mtls_endpoint_aliases", [.object(["token_endpoint": .text("https://mtls.example/x")]), .object([:])]),
    ]
  }()

  /// Whether a member is a URL that may be used, or is not there.
  private static func isUsable(_ value: MemberValue?) -> Bool {
    // A member of another kind counts as missing.
    guard let text = value?.asText else { return true }
    return places[text] ?? (text == "https://mtls.example/x")
  }

  /// The server in a document; `nil` if the document breaks a rule.
  private static func server(_ response: RandomResponse) -> (token: String, announcesIssuer: Bool, proofKeys: Bool)? {
    guard let members = response.members, members["issuer"] == .text(issuer),
      let token = members["token_endpoint"]?.asText
    else { return nil }
    let names = [
      "token_endpoint", "authorization_endpoint", "revocation_endpoint", "device_authorization_endpoint",
      "pushed_authorization_request_endpoint",
    ]
    guard names.allSatisfy({ isUsable(members[$0]) }) else { return nil }
    if case .object(let aliases)? = members["mtls_endpoint_aliases"], !aliases.values.allSatisfy(isUsable) {
      return nil
    }
    var proofKeys = true
    if case .list(let methods)? = members["code_challenge_methods_supported"] { proofKeys = methods.contains("S256") }
    return (token, members["authorization_response_iss_parameter_supported"] == .flag(true), proofKeys)
  }

  /// Returns the difference between a result and the rules; `nil` if there is no difference.
  private static func difference(
    _ result: Result<OAuth2Server, any Error>, _ response: RandomResponse
  ) -> String? {
    let expected = response.status == 200 ? server(response) : nil
    switch result {
    case .success(let found):
      let isRight =
        found.token.absoluteString == expected?.token && found.announcesIssuer == expected?.announcesIssuer
        && found.supportsProofKeys == expected?.proofKeys
      // A changed octet may be one of a URL, which the table of URLs then lacks.
      return isRight || response.isFlipped ? nil : "\(found) for \(response)"
    case .failure(let error as NetworkError):
      let code: NetworkError.Code = response.status == 200 ? .oauth2InvalidServer : .unacceptableStatus
      return error.code == code && (expected == nil || response.isFlipped) ? nil : "\(error) for \(response)"
    case .failure(let error): return "\(error) for \(response)"
    }
  }

  @Test(arguments: 1...10) func `a document is read by the rules`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var (read, wrong) = (0, [String]())
    for _ in 1...1_000 {
      var response = RandomResponse.make(Self.choices, [200], using: &random)
      response.status = 200
      let result = Result { try OAuth2Metadata.read(response.body, issuer: Self.issuer) }
      if case .success = result { read += 1 }
      if let difference = Self.difference(result, response) { wrong.append(difference) }
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(9).joined(separator: "\n"))")
    #expect((30...970).contains(read), "\(read)")
  }

  @Test func `a document of any status and type is read over a client by the same rules`() async {
    var random = SeededGenerator(seed: 11)
    let document = Locked<RandomResponse?>(nil)
    let client = NetworkClient(baseURL: url("https://api.example/"), transport: DocumentServer(document: document))
    var wrong: [String] = []
    for _ in 1...500 {
      let response = RandomResponse.make(Self.choices, [200, 200, 404, 302], using: &random)
      document.withLock { $0 = response }
      let result: Result<OAuth2Server, any Error>
      do {
        result = .success(try await OAuth2Server.discover(Self.issuer, over: client))
      } catch {
        result = .failure(error)
      }
      if let difference = Self.difference(result, response) { wrong.append(difference) }
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(9).joined(separator: "\n"))")
  }
}

/// A server that gives one document at each place.
private struct DocumentServer: Transport {
  let document: Locked<RandomResponse?>

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    document.withLock { $0 }?.response(to: request) ?? NetworkResponse(request: request, statusCode: 404)
  }

  func shutdown() async {}
}
