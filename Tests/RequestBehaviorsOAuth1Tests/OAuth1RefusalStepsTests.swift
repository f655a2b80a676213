import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// A service that refuses a request shows the base string or the parameters that it computed.
@Suite(.limited) struct OAuth1RefusalStepsTests {
  private let session = OAuth1Session.sample()

  /// Returns the explanation of a refusal whose body is made from the base string that was signed.
  private func explanation(
    _ request: Request<Void> = .get("p", query: ["q": "a b", "n": 1]), type: String = "text/plain",
    challenge: @escaping @Sendable (String) -> String? = { _ in nil },
    body: @escaping @Sendable (OAuth1Signature) -> String
  ) async throws -> OAuth1Explanation {
    let session = session
    let transport = ClosureTransport { request in
      let signature = session.explain(request).signature
      let text = signature.map(body) ?? ""
      var headers: HeaderFields = ["Content-Type": type]
      headers["WWW-Authenticate"] = challenge(signature?.baseString ?? "")
      return NetworkResponse(request: request, statusCode: 401, headers: headers, body: .data(Data(text.utf8)))
    }
    let client = NetworkClient(transport, [.oauth1(session)])
    let error = try #require(await #expect(throws: NetworkError.self) { try await client.send(request) })
    return session.explain(error)
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.map { $0 == 0x26 ? "%26" : $0 == 0x25 ? "%25" : $0 == 0x3d ? "%3D" : String(UnicodeScalar($0)) }.joined()
  }

  private static let pages: [@Sendable (OAuth1Signature) -> String] = [
    { "oauth_problem=signature_invalid&debug_sbs=\(escaped($0.baseString))&x=1" },
    { "Invalid signature. Expected base string: \($0.baseString)\n" },
    { #"{"errors": [{"message": "bad", "detail": {"base_string": "\#($0.baseString)"}}]}"# },
    { #"{"base": "\#($0.baseString.replacingOccurrences(of: "&", with: "\\u0026"))"}"# },
    { "<html><p>base_string:<b>\($0.baseString.replacingOccurrences(of: "&", with: "&amp;"))</b></p></html>" },
  ]

  @Test(arguments: pages.indices)
  func `if the base strings agree, the finding is that the key differs`(page: Int) async throws {
    let found = try await explanation(body: Self.pages[page]).findings
    #expect(found.contains { $0.contains("base strings agree, so the key differs") })
  }

  @Test func `a base string in the challenge is read too`() async throws {
    let found = try await explanation(
      challenge: { #"OAuth realm="x", oauth_problem="signature_invalid", base_string="\#($0)""# }, body: { _ in "" })
    #expect(found.findings.contains { $0.contains("base strings agree") })
  }

  @Test(arguments: pages.indices)
  func `base strings that differ are compared`(page: Int) async throws {
    let found = try await explanation { signature in
      Self.pages[page](signature).replacingOccurrences(of: "a%2520b", with: "a%252Bb")
        .replacingOccurrences(of: "a%252520b", with: "a%25252Bb")
    }.findings
    let finding = try #require(found.first { $0.contains("The base strings differ") })
    #expect(finding.contains("q=a%2Bb"))
    #expect(finding.contains("A + and a space"))
    #expect(!found.contains { $0.contains("agree") })
  }

  @Test func `parameters of the service are compared with the signed ones`() async throws {
    let same = try await explanation { "normalized: \($0.parameterString)." }.findings
    #expect(same.contains { $0.contains("The parameters agree") })
    let other = try await explanation {
      "normalized: \($0.parameterString.replacingOccurrences(of: "n=1", with: "n=2"))"
    }
    .findings
    #expect(other.contains { $0.contains("signed:  n=1") && $0.contains("service: n=2") })
  }

  @Test func `a finding names the parameter that the service misses, and says whether it was sent`() async throws {
    let found = try await explanation { _ in
      "oauth_problem=parameter_absent&oauth_parameters_absent=oauth_nonce%26oauth_body_hash"
    }.findings
    #expect(found.contains { $0.contains("oauth_nonce, which the request carries") })
    #expect(found.contains { $0.contains("oauth_body_hash, and the request has none") })
  }

  @Test(arguments: ["", "oauth_problem=signature_invalid", "GET&x&y", "&http%3A", "{", "a&https%3A%2F%2Fh&b"])
  func `a response without a base string adds no finding`(body: String) async throws {
    let found = try await explanation(body: { _ in body }).findings
    #expect(!found.contains { $0.contains("The service shows") })
  }

  @Test func `a base string is found behind many marks without a method`() async throws {
    let marks = String(repeating: "&http%3a", count: 30_000)
    let found = try await explanation(challenge: { _ in #"OAuth realm="x", text="\#(marks)"# }, body: { $0.baseString })
    #expect(found.findings.contains { $0.contains("base strings agree") })
  }

  @Test func `secrets that the service shows are not repeated`() async throws {
    let request = Request<Void>.get("p", query: ["password": "canary-1"])
    let found = try await explanation(request) { $0.baseString.replacingOccurrences(of: "canary-1", with: "canary-2") }
    #expect(found.findings.contains { $0.contains("The base strings differ") })
    #expect(!found.description.contains("canary"))
  }
}
