import Foundation
import RequestBehaviors
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Pushes one secret through the library at every place where a secret can be, and searches everything that comes out.
@Suite(.limited) struct CanaryTests {
  private static let secret = "c4nary/+S3cret?ü"

  /// The forms that the secret could take in an output.
  private static let forms: [String] = {
    let data = Data(secret.utf8)
    let percent = [CharacterSet.alphanumerics, .urlQueryAllowed, .urlPathAllowed, .urlHostAllowed].compactMap {
      secret.addingPercentEncoding(withAllowedCharacters: $0)
    }
    // In base64 the neighbours of the secret shift its letters: three alignments, without the ends that they touch.
    let base64 = (0..<3).map { shift in
      String((Data(repeating: 0x3A, count: shift) + data).base64EncodedString().dropFirst(4).dropLast(4))
    }
    let bytes = data.map { "\($0)" }.joined(separator: ", ")
    let json = #"c4nary\/+S3cret?\u00fc"#
    return [secret, "c4nary", "S3cret", "3463616e617279", bytes, json] + percent + base64
  }()

  /// The secret in every form in which a server or an error could repeat it, without a name that tells what it is.
  private static let echoes: String = {
    let encoded = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let base64 = Data("user:\(secret)".utf8).base64EncodedString()
    return "said \(secret) and \(encoded) and \(base64) and \(PercentEncoding.escape(secret))."
  }()

  private let output = Box<[(origin: String, text: String)]>([])

  private func collect(_ origin: String, _ text: String) { output.update { $0.append((origin, text)) } }

  /// Every way in which a value turns into text.
  private func collect(_ origin: String, showing value: Any) {
    var dumped = ""
    dump(value, to: &dumped)
    collect("\(origin), dumped", dumped)
    collect("\(origin), described", String(describing: value))
    collect("\(origin), reflected", String(reflecting: value))
    collect("\(origin), in an array", "\([value])")
    if let error = value as? any Error { collect("\(origin), localized", error.localizedDescription) }
  }

  private func expectNoSecret(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(!output.value.isEmpty, sourceLocation: sourceLocation)
    for (origin, text) in output.value {
      let leaks = Self.forms.filter { text.contains($0) }
      #expect(leaks.isEmpty, "\(origin): \(text)", sourceLocation: sourceLocation)
    }
  }

  /// An error of another library that repeats what it was given.
  private struct Talkative: Error, CustomStringConvertible {
    let description: String
  }

  private enum Reaction: String, CaseIterable { case succeed, refuse, garble, redirect, fail, cancel }

  private func transport(_ reaction: Reaction) -> ClosureTransport {
    let secret = Self.secret
    let headers: HeaderFields = [
      "Content-Type": "application/json", "Set-Cookie": "sid=\(secret); Path=/", "X-Session": secret,
      "Location": "https://u:\(secret)@elsewhere.example/x?code=\(secret)#\(secret)",
      "Link": "</x?cursor=\(secret)>; rel=next", "ETag": "\"\(Self.echoes)\"",
    ]
    let body =
      #"{"id":1,"access_token":"\#(secret)","nested":{"client_secret":["\#(secret)"]},"echo":"\#(Self.echoes)","#
      + #""xml":"<password type=\"t\"><![CDATA[\#(secret)]]></password>","escaped":"c4nary\/+S3cret?\u00fc"}"#
    let echoes = Self.echoes
    return ClosureTransport { request in
      switch reaction {
      case .succeed, .refuse, .redirect:
        let status = reaction == .succeed ? 200 : reaction == .refuse ? 401 : 302
        return NetworkResponse(request: request, statusCode: status, headers: headers, body: .data(Data(body.utf8)))
      case .garble:
        let broken = Data(("{\"password\" \"" + secret).utf8)
        return NetworkResponse(request: request, statusCode: 200, headers: headers, body: .data(broken))
      case .fail:
        throw NetworkError(
          .cannotConnect, "no route, \(echoes)", request: request,
          underlyingError: Talkative(
            description: "GET \(request.url) Authorization: Bearer \(secret) X-Api-Key: \(secret) failed, \(echoes)"))
      case .cancel:
        withUnsafeCurrentTask { $0?.cancel() }
        throw Talkative(description: "token=\(secret), \(echoes)")
      }
    }
  }

  private var behaviors: [any RequestBehavior] {
    let key = Self.secret
    let noteText = ClosureLogSink { [output] record in
      output.update { $0 += [("line", record.line), ("JSON", record.json), ("record", String(describing: record))] }
    }
    return [
      .logging(noteText, level: .debug, headers: true, bodyLimit: 4_096), .traceContext(),
      ClosureBehavior(
        "path",
        modify: { request in
          request.url.append(path: key)
          request.call.addSecret(key)
          request.call.record("goes to \(request.url)", from: "path")
        }),
      ClosureBehavior(
        "auth", order: .authentication,
        headers: { _ in HeaderFields([.init("Authorization", "Bearer \(key)", sensitive: .baseURL)]) }),
    ]
  }

  private var request: Request<Item> {
    let secret = Self.secret
    var request = Request<Item>.post(
      "items/\(1)", body: .form(["password": secret, "code": secret]),
      query: ["api_key": secret, "page": 1])
    request.headers = ["X-Api-Key": secret, "Cookie": "sid=\(secret)"]
    return request
  }

  private struct Item: Codable, Sendable { let id: Int }

  @Test(arguments: Reaction.allCases)
  private func `the output of a call does not show the secret`(reaction: Reaction) async throws {
    let timings = LatencyStatistics()
    let transport = transport(reaction)
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors + [.timing(timings)])
    let reports = Box<[CallReport]>([])
    configuration.behaviors.append(.onCallEnd { report in reports.update { $0.append(report) } })
    let recorder = CallRecorder(bodies: .upTo(4_096))
    configuration.behaviors.append(.recording(recorder))
    let client = NetworkClient(configuration: configuration, transport: transport)
    let request = request
    let task = Task { try await client.response(for: request) }
    switch await task.result {
    case .success(let response):
      collect("response", showing: response.http)
      collect("decoded", showing: response)
    case .failure(let error): collect("error", showing: error)
    }
    for sent in transport.sent {
      collect("curl", sent.curlCommand())
      collect("sent", showing: sent)
      collect("call", showing: sent.call)
      collect("secrets", showing: sent.call.secrets)
    }
    for report in reports.value {
      collect("report", showing: report)
      for attempt in report.call.attempts { collect("attempt", showing: attempt) }
    }
    collect("recorder", showing: recorder)
    collect("request", showing: request)
    collect("pipeline", try client.pipeline(for: request).description)
    collect("timings", timings.description)
    expectNoSecret()
  }

  @Test func `errors of building a request do not show the secret`() async throws {
    let secret = Self.secret
    let encoded = try #require(secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    let client = NetworkClient(ClosureTransport(), behaviors)
    let urls = [
      "https://u:\(encoded)@h/x", "ftp://h/?token=\(encoded)", "/relative?token=\(encoded)", "https:///?k=\(encoded)",
      "https://h/../../x?token=\(encoded)", "https://h:99999/?token=\(encoded)", "mailto:\(encoded)",
    ]
    for url in urls.compactMap({ URL(string: $0) }) { await collectError(client, .get(url: url)) }
    let base = RequestConfiguration(baseURL: URL(string: "https://u:\(encoded)@h/"))
    await collectError(NetworkClient(configuration: base, transport: ClosureTransport()), .get("x"))
    await collectError(client, .get(RequestPath(encoded: "../../../x?token=\(encoded)")))
    await collectError(client, .get(RequestPath(encoded: "two words?token=\(secret)")))
    await collectError(client, .get(RequestPath(stringLiteral: "https://[/x?token=\(encoded)")))
    var path = RequestPath.StringInterpolation(literalCapacity: 9, interpolationCount: 1)
    path.appendInterpolation("..")
    path.appendLiteral("?token=\(secret)")
    await collectError(client, .get(RequestPath(stringInterpolation: path)))
    await collectError(client, .get("x").with(header: "X-Api-Key", "\(secret)\r\nX-Forged: \(secret)"))
    await collectError(client, .get("x").with(header: "Bad Name", secret))
    await collectError(client, .get("x", query: ["token": secret]).with(header: "Transfer-Encoding", "chunked"))
    await collectError(client, .get("x").with(header: "X-Key", secret + "\u{0}", sensitive: .any))
    expectNoSecret()
  }

  private func collectError(_ client: NetworkClient, _ request: Request<Void>) async {
    do {
      try await client.send(request)
    } catch {
      collect("error of \(request.method)", showing: error)
    }
  }

  @Test func `values that hold the secret do not show it`() throws {
    let secret = Self.secret
    var headers: HeaderFields = ["Cookie": secret]
    headers.set("Authorization", secret, sensitive: .any)
    let data = Data(secret.utf8)
    let bodies: [RequestBody] = [
      .data(data), .stream { ByteStream(chunks: [data]) }, .oneShot(ByteStream(chunks: [data])),
    ]
    for body in bodies {
      let request = NetworkRequest(
        .post, url: baseURL.appending(queryItems: [.init(name: "k", value: secret)]), headers: headers, body: body)
      collect("request", showing: request)
      collect(
        "response", showing: NetworkResponse(request: request, statusCode: 200, headers: headers, body: .data(data)))
      collect("body", showing: body)
    }
    collect("headers", showing: headers)
    for field in headers { collect("field", showing: field) }
    collect("response body", showing: ResponseBody.data(data))
    collect("environment", showing: ServerEnvironment(baseURL: baseURL, headers: headers, query: ["k": secret]))
    collect("query", showing: ["token": secret, "q": secret] as Query)
    collect("query item", showing: Query.Item("token", secret))
    collect("query items", showing: [Query.Item("q", secret)])
    collect("basic", showing: BasicAuthBehavior(user: "u", password: secret))
    collect("fixed headers", showing: HeadersBehavior(headers))
    collect("key", showing: AccessToken(secret, refreshToken: secret))
    collect("endpoint", showing: TokenEndpoint("token", clientID: "app", clientSecret: secret))
    collect("consumer", showing: OAuth1Consumer(key: "c", secret: secret))
    collect("credentials", showing: OAuth1Credentials(token: secret, secret: secret))
    collect("redactor", showing: Redactor.standard.hiding([secret]))
    collect("content", showing: RequestContent.json(["password": secret]))
    collect("configuration", showing: RequestConfiguration(baseURL: baseURL))
    expectNoSecret()
  }
}
