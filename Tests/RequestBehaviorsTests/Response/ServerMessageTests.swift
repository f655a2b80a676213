import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// The words of a server about a refusal, as an error has them.
@Suite(.limited) struct ServerMessageTests {
  private func error(_ type: String?, _ body: String, isVerified: Bool = true) async throws -> NetworkError {
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 422, headers: type.map { ["Content-Type": $0] } ?? [:],
        body: .data(Data(body.utf8)), isVerified: isVerified)
    }
    return try await #require(throws: NetworkError.self) {
      try await NetworkClient(transport).send(.get("x", headers: ["Authorization": "Bearer s3cr3t-value"]))
    }
  }

  @Test(arguments: [
    (#"{"message": "Validation Failed", "errors": [{"code": "missing_field"}]}"#, "Validation Failed"),
    (#"{"error": {"code": 404, "message": "no such file", "status": "NOT_FOUND"}}"#, "no such file"),
    (#"{"errors": [{"code": 32, "message": "Could not authenticate you"}]}"#, "Could not authenticate you"),
    (#"{"errors": ["name is too long", "name is taken"]}"#, "name is too long"),
    (#"{"error": "invalid_grant", "error_description": "the code is used"}"#, "invalid_grant: the code is used"),
    (#"{"error": "Not Found", "message": "", "path": "/x"}"#, "Not Found"),
    (#"{"error": "Not Found", "message": "Not Found"}"#, "Not Found"),
    (#"{"detail": [{"loc": ["body", "name"], "msg": "field required"}]}"#, "field required"),
    (#"{"error": {"type": "parsing_exception", "reason": "unknown field"}, "status": 400}"#, "unknown field"),
    (#"{"title": "One or more validation errors occurred."}"#, "One or more validation errors occurred."),
    (#"["the name is taken"]"#, "the name is taken"),
  ])
  func `the reason is found in the errors of common APIs`(body: String, words: String) async throws {
    let error = try await error("application/json; charset=utf-8", body)
    #expect(error.serverMessage == words)
    #expect(error.message == "the server answered 422: \(words)")
  }

  @Test(arguments: [
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", #"a\nforged line"#, String(repeating: "k", count: 50_000),
  ])
  func `the names in the place of a decoding error are shown as text of the server`(name: String) async throws {
    let transport = ClosureTransport { request in
      NetworkResponse(request: request, statusCode: 200, body: .data(Data(#"{"\#(name)": "x"}"#.utf8)))
    }
    let error = try await #require(throws: NetworkError.self) {
      try await NetworkClient(transport).send(Request<[String: Int]>.get("x"))
    }
    #expect(error.code == .decodingFailed)
    #expect(!error.message.contains("eyJ") && !error.message.contains("\n") && error.message.count < 2_000)
  }

  @Test func `title and detail of a problem are the reason`() async throws {
    let error = try await error("application/problem+json", #"{"title": "Forbidden", "detail": "it is closed"}"#)
    #expect(error.serverMessage == "Forbidden: it is closed")
  }

  @Test func `title and detail of a problem are on one line`() async throws {
    let error = try await error("application/problem+json", #"{"title": "For\nbidden\n", "detail": "it is\r\nclosed"}"#)
    #expect(error.serverMessage == "For bidden: it is closed")
    #expect(error.message == "the server answered 422: For bidden: it is closed")
  }

  @Test(arguments: [
    ("application/json", "{"), ("application/json", "{}"), ("application/json", "[]"), ("application/json", "null"),
    ("application/json", #""the name is taken""#),
    ("application/json", #"{"message": 7, "error": null, "errors": []}"#), ("application/json", ""),
    ("application/json", #"{"error": {"error": {"error": {"error": "too deep"}}}}"#),
    ("text/plain", "name is too long"),
    ("text/html", "<h1>Forbidden</h1>"), (nil, "Forbidden"), ("image/png", "Forbidden"), ("nonsense", "Forbidden"),
  ])
  func `other bodies do not have a reason`(type: String?, body: String) async throws {
    let error = try await error(type, body)
    #expect(error.serverMessage == nil)
    #expect(error.message == "the server answered 422")
  }

  @Test func `a secret of the request is hidden, also where a long text is cut`() async throws {
    let text = String(repeating: "x ", count: 124) + "s3cr3t-value"
    let error = try await error("application/json", #"{"message": "\#(text)"}"#)
    #expect(error.serverMessage?.hasPrefix("x x") == true)
    #expect(!"\(error) \(error.serverMessage ?? "")".contains("s3cr3t"))
  }

  @Test func `a secret of an interim response is hidden`() async throws {
    let transport = ClosureTransport { request in
      var response = NetworkResponse(
        request: request, statusCode: 422, headers: ["Content-Type": "application/json"],
        body: .data(Data(#"{"message": "no key inter1m-value"}"#.utf8)))
      response.interimResponses = [InterimResponse(statusCode: 103, headers: ["X-API-Key": "inter1m-value"])]
      return response
    }
    let error = await #expect(throws: NetworkError.self) { try await NetworkClient(transport).send(.get("x")) }
    #expect(error?.serverMessage == "no key REDACTED")
  }

  @Test func `a text is on one line and cut after 256 characters, and a body over 64 KiB is not read`() async throws {
    let lines = try await error("application/json", #"{"message": " too long\nand taken\n"}"#)
    #expect(lines.serverMessage == "too long and taken")
    let long = try await error("application/json", #"{"title":"\#(String(repeating: "x", count: 65_524))"}"#)
    #expect(long.serverMessage?.count == 256)
    let longer = try await error("application/json", #"{"title":"\#(String(repeating: "x", count: 65_525))"}"#)
    #expect(longer.serverMessage == nil)
  }

  @Test func `a success that cannot be decoded does not have a server message`() async throws {
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["Content-Type": "application/json"],
        body: .data(Data(#"{"id": "seven", "title": "a fine article"}"#.utf8)))
    }
    let error = await #expect(throws: NetworkError.self) {
      let _: [String: Int] = try await NetworkClient(transport).send(.get("x"))
    }
    #expect(error?.code == .decodingFailed)
    #expect(error?.serverMessage == nil)
  }

  @Test func `the words of a response that is not verified are left out`() async throws {
    let error = try await error("application/json", #"{"message": "sign in to the hotel"}"#, isVerified: false)
    #expect(error.serverMessage == nil)
    #expect(!error.message.contains("hotel"))
  }
}
