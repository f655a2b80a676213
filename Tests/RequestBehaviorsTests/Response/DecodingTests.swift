import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct DecodingTests {
  private struct User: Codable, Equatable { var name: String }

  private func client(
    _ status: Int = 200, _ body: String = "", type: String? = "application/json"
  ) -> NetworkClient {
    NetworkClient(ClosureTransport(status, body, headers: type.map { ["Content-Type": $0] } ?? [:]))
  }

  @Test func `a decodable value is decoded by the configuration's decoder, which Accept names`() async throws {
    let transport = ClosureTransport(200, #"{"name":"a"}"#, headers: ["Content-Type": "application/json"])
    let user: User = try await NetworkClient(transport).send(.get("x"))
    #expect(user == User(name: "a"))
    #expect(transport.sent[0].headers["Accept"] == "application/json, text/json")
  }

  @Test func `a request for the whole response keeps the Accept of the original type`() async throws {
    let transport = ClosureTransport(200, "1")
    let client = NetworkClient(transport)
    let typed: Request<[Int]> = .get("x")
    _ = try await client.send(typed.returning(NetworkResponse.self))
    let raw: Request<Data> = .get("x")
    _ = try await client.send(raw.returning(NetworkResponse.self))
    let optional: Request<Int?> = .get("x")
    _ = try await client.send(optional.returning(NetworkResponse.self).returning(NetworkResponse.self))
    let none: Request<Void> = .get("x")
    _ = try await client.send(none.returning(NetworkResponse.self))
    _ = try await client.send(typed.returning(NetworkResponse.self).returning(String.self))
    #expect(
      transport.sent.map { $0.headers["Accept"] } == [
        "application/json, text/json", nil, "application/json, text/json", nil, nil,
      ])
  }

  @Test func `the caller's own Accept is not replaced, nor that of the environment`() async throws {
    let transport = ClosureTransport(200, #"{"name":"a"}"#, headers: ["Content-Type": "application/json"])
    let _: User = try await NetworkClient(transport).send(.get("x", headers: ["accept": "application/vnd.a+json"]))
    #expect(transport.sent[0].headers.values(for: "Accept") == ["application/vnd.a+json"])
    let server = ServerEnvironment(baseURL: baseURL, headers: ["Accept": "application/hal+json"])
    let _: User = try await NetworkClient(transport).send(.get("x").with(\.environment, server))
    #expect(transport.sent[1].headers.values(for: "Accept") == ["application/hal+json"])
  }

  @Test func `an error's description of a refused body is redacted`() async {
    struct Refusing: Decodable {
      init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
          .init(codingPath: [], debugDescription: "password=canary-7731 is not what was meant"))
      }
    }
    struct Foreign: Decodable {
      init(from decoder: any Decoder) throws { throw Failure("token=canary-7731") }
    }
    let refused = await #expect(throws: NetworkError.self) {
      let _: Refusing = try await client(200, "{}").send(.get("x"))
    }
    #expect(refused?.message.contains("is not what was meant") == true)
    #expect(refused?.message.contains("canary") == false)
    let foreign = await #expect(throws: NetworkError.self) {
      let _: Foreign = try await client(200, "{}").send(.get("x"))
    }
    #expect(foreign?.code == .decodingFailed)
    #expect(foreign?.message.contains("canary") == false)
  }

  @Test func `a value that a behavior decoded is forgotten when the body is replaced`() async throws {
    let keep = ClosureBehavior("keep", order: .persistence) { request, next in
      var response = try await next(request)
      response.keepDecoded(User(name: "kept"))
      return response
    }
    let replace = ClosureBehavior("replace", order: .first) { request, next in
      var response = try await next(request)
      response.body = .data(Data(#"{"name":"replaced"}"#.utf8))
      return response
    }
    let transport = ClosureTransport(200, #"{"name":"sent"}"#, headers: ["Content-Type": "application/json"])
    let kept: User = try await NetworkClient(transport, [keep]).send(.get("x"))
    #expect(kept.name == "kept")
    let replaced: User = try await NetworkClient(transport, [keep, replace]).send(.get("x"))
    #expect(replaced.name == "replaced")
  }

  @Test func `data and text are the unchanged body, of any type and also empty`() async throws {
    let data: Data = try await client(200, "é", type: "image/png").send(.get("x"))
    #expect(data == Data("é".utf8))
    let text: String = try await client(200, "é", type: "image/png").send(.get("x"))
    #expect(text == "é")
    let empty: Data = try await client(204, "").send(.get("x"))
    #expect(empty.isEmpty)
    let some: Data? = try await client(200, "x", type: "image/png").send(.get("x"))
    #expect(some == Data("x".utf8))
  }

  @Test func `for data and text no media type is requested`() async throws {
    let transport = ClosureTransport(200, "x")
    let client = NetworkClient(transport)
    let _: Data = try await client.send(.get("x"))
    let _: String? = try await client.send(.get("x"))
    #expect(transport.sent.map { $0.headers["Accept"] } == [nil, nil])
  }

  @Test func `no value is needed for Void, whatever the body`() async throws {
    await #expect(throws: Never.self) { try await client(200, "no JSON").send(.delete("x")) }
  }

  @Test func `a request can return the whole response`() async throws {
    let response: NetworkResponse = try await client(201, "x").send(.post("x"))
    #expect(response.statusCode == 201)
    #expect(try response.text == "x")
  }

  @Test func `an optional is nil for an empty body and for null`() async throws {
    let empty: User? = try await client(204).send(.get("x"))
    #expect(empty == nil)
    let null: User? = try await client(200, "null").send(.get("x"))
    #expect(null == nil)
    let some: User? = try await client(200, #"{"name":"a"}"#).send(.get("x"))
    #expect(some == User(name: "a"))
  }

  private enum Fact: ResponseInfoKey { typealias Value = Int }

  /// Leaves a fact with each response, as caches and savers do.
  private struct LeavingFact: RequestBehavior {
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
      var response = try await next(request)
      response.info[Fact.self] = 1
      return response
    }
  }

  @Test func `an optional is decoded although a behavior attached a value to the response`() async throws {
    let transport = ClosureTransport(200, #"{"name":"a"}"#, headers: ["Content-Type": "application/json"])
    let user: User? = try await NetworkClient(transport, [LeavingFact()]).send(.get("x"))
    #expect(user == User(name: "a"))
  }

  @Test func `an empty body where a value is needed is an error that says so`() async {
    let error = await #expect(throws: NetworkError.self) { let _: User = try await client(204).send(.get("x")) }
    #expect(error?.code == .emptyBody)
    #expect(error?.message.contains("User") == true)
  }

  @Test func `nilWhenNotFound returns nil for a 404 and throws for other failures`() async throws {
    let missing: User? = try await client(404, "<html>", type: "text/html").send(.get("x").nilWhenNotFound())
    #expect(missing == nil)
    let found: User? = try await client(200, #"{"name":"a"}"#).send(.get("x").nilWhenNotFound())
    #expect(found?.name == "a")
    let error = await #expect(throws: NetworkError.self) {
      let _: User? = try await client(410).send(.get("x").nilWhenNotFound())
    }
    #expect(error?.statusCode == 410)
  }

  @Test func `a 404 without nilWhenNotFound is an error for an optional too`() async {
    await #expect(throws: NetworkError.self) { let _: User? = try await client(404).send(.get("x")) }
  }

  @Test(arguments: ["items.-1", "items.-1.name", "items.2"])
  func `a path to an element that cannot be there fails`(path: String) async throws {
    let client = client(200, #"{"items":[{"name":"a"},{"name":"b"}]}"#)
    let request: Request<User> = .get("x").decoding(at: path)
    let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
    #expect(error?.code == .decodingFailed)
    let text: Request<String> = .get("x").decoding(at: path)
    await #expect(throws: NetworkError.self) { try await client.send(text) }
  }

  @Test func `a path leads to a member whose name is a negative number`() async throws {
    let user: User = try await client(200, #"{"-1":{"name":"a"}}"#).send(.get("x").decoding(at: "-1"))
    #expect(user == User(name: "a"))
  }

  @Test func `a value can be decoded from a place inside the body`() async throws {
    let body = #"{"data":{"items":[{"name":"a"},{"name":"b"}],"total":2}}"#
    let users: [User] = try await client(200, body).send(.get("x").decoding(at: "data.items"))
    #expect(users.map(\.name) == ["a", "b"])
    let second: User = try await client(200, body).send(.get("x").decoding(at: "data.items.1"))
    #expect(second.name == "b")
    let total: Int = try await client(200, body).send(.get("x").decoding(at: "data.total"))
    #expect(total == 2)
    let error = await #expect(throws: NetworkError.self) {
      let _: [User] = try await client(200, body).send(.get("x").decoding(at: "data.nothing"))
    }
    #expect(error?.message.contains("data.nothing: the key is missing") == true)
  }

  @Test func `the body of a failure is decoded as a whole, whatever the place of the value`() async throws {
    struct Problem: Decodable { let title: String }
    let body = #"{"title":"no","data":{"title":"yes"}}"#
    let request = Request<Problem>.get("x").decoding(at: "data")
    let error = try await #require(throws: NetworkError.self) { _ = try await client(422, body).response(for: request) }
    #expect(try error.decode(Problem.self).title == "no")
    #expect(try error.response?.decode(Problem.self).title == "no")
    #expect(try error.response?.decode(Problem.self, at: "data").title == "yes")
    let accepting = request.with(\.acceptableStatuses, [422])
    let accepted = try await client(422, body).response(for: accepting)
    #expect(accepted.value.title == "yes")
    #expect(try accepted.http.decode(Problem.self).title == "yes")
    #expect(try accepted.http.decode(Problem.self, at: "").title == "no")
  }

  @Test func `text and data can be decoded from a place inside the body`() async throws {
    let body = #"{"data":{"name":"a","names":["b",null],"photo":"aGk=","photos":["aGk="],"total":2}}"#
    let name: String = try await client(200, body).send(.get("x").decoding(at: "data.name"))
    #expect(name == "a")
    let element: String? = try await client(200, body).send(.get("x").decoding(at: "data.names.0"))
    #expect(element == "b")
    let none: String? = try await client(200, body).send(.get("x").decoding(at: "data.names.1"))
    #expect(none == nil)
    let photo: Data = try await client(200, body).send(.get("x").decoding(at: "data.photo"))
    #expect(photo == Data("hi".utf8))
    let first: Data = try await client(200, body).send(.get("x").decoding(at: "data.photos.0"))
    #expect(first == Data("hi".utf8))
    let whole: String = try await client(200, body).send(.get("x").decoding(at: ""))
    #expect(whole == body)
    let response = try await client(200, body).send(Request<NetworkResponse>.get("x"))
    #expect(try response.decode(String.self, at: "data.name") == "a")
    let error = await #expect(throws: NetworkError.self) {
      let _: String = try await client(200, body).send(.get("x").decoding(at: "data.total"))
    }
    #expect(error?.code == .decodingFailed)
    #expect(error?.message.contains("data.total") == true)
  }

  @Test(arguments: [
    ("text/plain; charset=ISO-8859-1", [0x47, 0x72, 0xFC, 0xDF, 0x65], "Grüße"),
    ("text/plain; charset=iso-8859-1", [0x80, 0x31], "€1"), ("text/plain; charset=latin1", [0x81], "\u{81}"),
    ("text/plain;charset=\"utf-8\"", [0xC3, 0xBC], "ü"), ("text/plain", [0xC3, 0xBC], "ü"),
    ("text/plain; format=flowed; Charset=UTF-16", [0xFE, 0xFF, 0x00, 0xFC], "ü"),
    ("text/plain; charset=shift_jis", [0x83, 0x65], "テ"), ("text/plain; charset=no-such", [0xC3, 0xBC], "ü"),
    ("application/json;charset=ISO-8859-1", [0xC3, 0xBC], "ü"),
    ("application/problem+json; charset=latin1", [0xC3, 0xBC], "ü"),
    ("text/plain; charset=shift_jis", [0xC3, 0xBC, 0xFF], "ü\u{FFFD}"), ("text/plain; charset", [0xFF], "\u{FFFD}"),
  ])
  func `text is decoded by its charset`(type: String, bytes: [UInt8], text: String) async throws {
    let client = NetworkClient(
      ClosureTransport { request in
        NetworkResponse(
          request: request, statusCode: 200, headers: ["Content-Type": type], body: .data(Data(bytes)))
      })
    let value: String = try await client.send(.get("x"))
    #expect(value == text)
    let optional: String? = try await client.send(.get("x"))
    #expect(optional == text)
    #expect(try await client.send(Request<NetworkResponse>.get("x")).text == text)
  }

  @Test func `for text and data inside the body the decoder's media types are requested`() async throws {
    let transport = ClosureTransport(200, #"{"name":"a"}"#, headers: ["Content-Type": "application/json"])
    let client = NetworkClient(transport)
    let request = Request<String>.get("x").decoding(at: "name")
    _ = try await client.send(request)
    _ = try await client.send(request.returning(NetworkResponse.self))
    #expect(transport.sent.map { $0.headers["Accept"] } == Array(repeating: "application/json, text/json", count: 2))
  }

  @Test func `a body that does not fit is an error with its coding path and a redacted excerpt`() async {
    let body = #"{"users":[{"name":1,"password":"canary","note":"\#(String(repeating: "x", count: 5_000))"}]}"#
    let error = await #expect(throws: NetworkError.self) {
      let _: [String: [User]] = try await client(200, body).send(.get("x"))
    }
    #expect(error?.code == .decodingFailed)
    #expect(error?.message.contains("users.[0].name") == true)
    #expect(error?.description.contains("canary") == false)
    #expect((error?.description.count ?? .max) < 1_000)
    #expect(error?.response?.statusCode == 200)
  }

  @Test func `the error for a missing key names the key`() async {
    let error = await #expect(throws: NetworkError.self) { let _: User = try await client(200, "{}").send(.get("x")) }
    #expect(error?.message.contains("name: the key is missing") == true)
  }

  @Test func `another content type than the decoder reads is an error, unless the request accepts it`() async throws {
    let html = client(200, #"{"name":"a"}"#, type: "text/html; charset=utf-8")
    let error = await #expect(throws: NetworkError.self) { let _: User = try await html.send(.get("x")) }
    #expect(error?.code == .unexpectedContentType)
    #expect(error?.message.contains("text/html") == true)
    let user: User = try await html.send(.get("x").with(\.acceptableContentTypes, ["text/*"]))
    #expect(user.name == "a")
    let any: User = try await html.send(.get("x").with(\.acceptableContentTypes, []))
    #expect(any.name == "a")
  }

  @Test(arguments: ["application/json; charset=utf-8", "Application/Problem+JSON", "text/json", nil])
  func `JSON is recognised by all its names, and without any`(type: String?) async throws {
    let user: User = try await client(200, #"{"name":"a"}"#, type: type).send(.get("x"))
    #expect(user.name == "a")
  }

  @Test func `a response pairs the value with the response that it came from`() async throws {
    let response = try await client(200, "7").response(for: .get("x").returning(Int.self))
    #expect(response.value == 7)
    #expect(response.http.statusCode == 200)
  }

  @Test func `a stream body is read into memory for decoding, up to the limit`() async throws {
    let transport = ClosureTransport {
      NetworkResponse(
        request: $0, statusCode: 200, body: .stream(ByteStream(chunks: [Data("[1,".utf8), Data("2]".utf8)])))
    }
    let numbers: [Int] = try await NetworkClient(transport).send(.get("x"))
    #expect(numbers == [1, 2])
    let error = await #expect(throws: NetworkError.self) {
      let _: [Int] = try await NetworkClient(transport).send(.get("x").with(\.bodyLimit, 4))
    }
    #expect(error?.code == .bodyTooLarge)
  }

  @Test func `an error's body is decoded into the API's own error type`() async throws {
    struct Problem: Decodable { let title: String }
    let failing = client(422, #"{"title":"no"}"#)
    let error = await #expect(throws: NetworkError.self) { try await failing.send(.get("x")) }
    #expect(try error?.decode(Problem.self).title == "no")
  }

  @Test func `mapError replaces failures by a custom error, and never a cancellation`() async {
    struct APIError: Error, Decodable, Equatable { let title: String }
    let map = MapErrorBehavior { error in (try? (error as? NetworkError)?.decode(APIError.self)) ?? error }
    let failing = NetworkClient(ClosureTransport(422, #"{"title":"no"}"#), [map])
    await #expect(throws: APIError(title: "no")) { try await failing.send(.get("x")) }
    let transport = ClosureTransport { _ in
      withUnsafeCurrentTask { $0?.cancel() }
      throw Failure("x")
    }
    let always = NetworkClient(transport, [.mapError { _ in Failure("mapped") }])
    await #expect(throws: CancellationError.self) { try await Task { try await always.send(.get("x")) }.value }
  }
}
