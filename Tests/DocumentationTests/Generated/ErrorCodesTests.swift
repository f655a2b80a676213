import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import RequestBehaviorsTesting
import Testing

/// The table of "Error codes", made of the sources' doc comments and of what a client does with each code.
@Suite(.limited) struct ErrorCodesTests {
  /// The remedy for each code, for a developer or a user.
  private static let remedies: [String: String] = [
    "backgroundTimeExpired": "send it again when the app is in front; move large transfers out of the background",
    "badResponse": "look at the bytes with another tool; tell the server's owners",
    "bodyConsumed": "use `.stream { … }`, which can begin anew; read a response once, or `buffered()`",
    "bodyNotBuffered": "read it with `buffered()`, or iterate `bytes`",
    "bodyTooLarge": "raise ``RequestOptions/bodyLimit``, or download to a file",
    "bodyUnreadable": "check that the file is there and may be read",
    "cannotConnect": "tell the user to check the connection; try again later",
    "checksumMismatch": "download again; compare the published checksum",
    "circuitOpen": "wait until ``NetworkError/availableAt``",
    "clientShutDown": "make a new client",
    "concurrencyLimited": "send fewer at a time, or raise the limit's `queueLimit`",
    "connectionLost": "try again; list `.retry()`",
    "credentialsWithheld": "list the origin in the behavior's `origins`, or send with `.optional` or `.none`",
    "deadlineExceeded": "try again later, or give the call more time with ``RequestOptions/deadline``",
    "decodingFailed": "compare the type with the body in the message; set the decoder's strategies",
    "dnsFailed": "check the host's name, then the connection",
    "downloadInProgress": "wait for the other download, or choose another place",
    "emptyBody": "use `Void` or an optional value if that is expected",
    "encodingFailed": "the message has the place in the value",
    "fileUnwritable": "check the folder, its rights and the free space",
    "gateClosed": "open the gate, or raise its limits",
    "intercepted": "tell the user to sign in to the network; check that the server echoes the nonce",
    "invalidBehavior": "the message names the behavior and the rule",
    "invalidRequest": "the message names the value and the rule",
    "invalidTrust": "the message names the certificate or the pin",
    "invalidURL": "check the base URL and the path; write `RequestPath(encoded:)` for a path made at run time",
    "lineTooLong": "raise the limit with `limit(bytes:)`, or read `bytes`",
    "linkNotFollowed": "allow the origin with `allowing:` if the server means it",
    "notSignedIn": "show the sign-in, then call ``TokenSession/signIn(_:)``",
    "oauth1CallbackNotConfirmed": "ask the service for OAuth 1.0a",
    "oauth1Denied": "show the sign-in again when the user wants it",
    "oauth1InsecurePlaintext": "use https, or another signature method",
    "oauth1InvalidResponse": "check the URLs of the flow",
    "oauth1MissingCredentials": "sign in with `OAuth1Flow`",
    "oauth1Refused": "read the `oauth_problem`; see \"Why is my signature refused?\"",
    "oauth1SigningFailed": "the underlying error is your closure's",
    "oauth1UnexpectedCallback": "begin the sign-in anew",
    "oauth2AlreadyFinished": "nothing: the first callback counts",
    "oauth2Denied": "show the sign-in again when the user wants it",
    "oauth2Dismissed": "show the sign-in again when the user wants it",
    "oauth2Expired": "begin another sign-in",
    "oauth2InvalidResponse": "check the URLs of the server; the message names the rule",
    "oauth2InvalidServer": "change the value that the message names",
    "oauth2Refused": "read `error.oauth2`, and the article \"Why did my sign-in fail?\"",
    "oauth2SigningFailed": "the underlying error is your closure's; return R and S, not DER",
    "oauth2UnexpectedCallback": "compare the address with the redirect URI; the sign-in goes on waiting",
    "offline": "wait for a network, or show what is stored",
    "persistenceFailed": "the underlying error is the store's; `response` still has the data",
    "rateLimited": "wait until ``NetworkError/availableAt``",
    "redirectFailed": "the message has the target; check the server",
    "refusedOption": "install a newer libcurl, or leave the setting out",
    "signedOut": "nothing: the request belonged to a user who has left",
    "simulationUnavailable": "run it where the message says",
    "timedOut": "try again; raise ``RequestOptions/idleTimeout`` for a slow server",
    "tlsFailed": "check the certificate, the clock of the device and your ``TrustPolicy``",
    "tokenStoreFailed": "unlock the device and try again; no user was signed out",
    "tokenUnavailable": "the underlying error has the reason; sign in again if it is a refusal",
    "tooManyAttempts": "the attempts show the loop, such as redirects in a circle",
    "transportFailed": "the underlying error has the platform's reason",
    "truncatedBody": "try again; list `.retry()`",
    "unacceptableStatus": "see the statuses below, and <doc:WhyWasMyRequestRefused>",
    "unexpectedContentType": "check the URL; set ``RequestOptions/acceptableContentTypes`` for wrong labels",
    "unmatchedRequest": "the message gives the reason for each stub",
    "unsupportedAddress": "use a name, or the transport over libcurl",
    "unsupportedTrust": "use the transport over libcurl",
  ]

  private func codes(of module: String) throws -> [(name: String, comment: String)] {
    // A code's raw value is its name.
    let pattern = /^ +public static let (\w+) = (?:NetworkError\.Code|Self)\((?:rawValue: )?"\1"\)$/
    // This one is a kind of an event.
    return try Declarations.matching(pattern, under: "Sources/\(module)").filter { $0.name != "download" }
  }

  /// A client whose transport fails with a code, on a clock that does not wait.
  private func client(
    _ code: NetworkError.Code, cause: NetworkError.Code? = nil, _ behaviors: [any RequestBehavior]
  ) -> (NetworkClient, MockTransport) {
    let underlying = cause.map { NetworkError($0, "the cause") }
    let mock = MockTransport { _ in throw NetworkError(code, "failed", underlyingError: underlying) }
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: behaviors)
    configuration.clock = .immediate
    return (NetworkClient(configuration: configuration, transport: mock), mock)
  }

  private func isRetried(_ code: NetworkError.Code) async -> Bool {
    let (client, mock) = client(code, [.retry()])
    try? await client.send(.get("x"))
    return mock.sent.count > 1
  }

  private func isCounted(_ code: NetworkError.Code) async -> Bool {
    let breaker = CircuitBreaker(CircuitPolicy(minimumRequests: 1))
    let (client, mock) = client(code, [.circuitBreaker(breaker)])
    for _ in 1...2 { try? await client.send(.get("x")) }
    return mock.sent.count == 1
  }

  private func isReplaced(_ code: NetworkError.Code, cause: NetworkError.Code? = nil) async throws -> Bool {
    let clock = ManualClock()
    let store = MemoryCacheStore(capacity: 100_000)
    let caching = CachingBehavior(store, policy: CachePolicy(staleIfError: .seconds(3_600)))
    var configuration = RequestConfiguration(baseURL: baseURL, behaviors: [caching])
    configuration.clock = clock.requestClock
    let fresh = MockTransport { request in
      NetworkResponse(request: request, statusCode: 200, headers: ["Cache-Control": "max-age=1"])
    }
    try await NetworkClient(configuration: configuration, transport: fresh).send(.get("x"))
    clock.advance(by: .seconds(60))
    let (failing, _) = client(code, cause: cause, [])
    let stale = failing.with { $0 = configuration }
    let response = try? await stale.send(Request<NetworkResponse>.get("x"))
    return response?.source == .stale
  }

  private func row(_ name: String, _ comment: String, of module: String) async throws -> String {
    let code = NetworkError.Code(rawValue: name)
    let remedy = Self.remedies[name] ?? "(what is the remedy?)"
    var cause = comment.hasSuffix(".") ? String(comment.dropLast()) : comment
    // Links lead to symbols of this module only.
    if module != "RequestBehaviors" { cause = cause.replacing("``", with: "`") }
    guard code != .unacceptableStatus else {
      return "| `\(name)` | \(cause) | \(remedy) | by status | by status | by status |"
    }
    let replaced =
      if try await isReplaced(code) { "yes" } else if try await isReplaced(code, cause: .connectionLost) {
        "by its cause"
      } else { "no" }
    let answers = [await isRetried(code) ? "yes" : "no", await isCounted(code) ? "yes" : "no", replaced]
    return "| `\(name)` | \(cause) | \(remedy) | \(answers.joined(separator: " | ")) |"
  }

  @Test(arguments: Repository.modules.filter { $0 != "RequestBehaviorsCaching" })
  func `the table of codes is that of the sources`(module: String) async throws {
    let head = "| code of `\(module)` | cause | remedy | retried | counted | stale instead |"
    var rows = [head, "|---|---|---|---|---|---|"]
    let codes = try codes(of: module).sorted { $0.name < $1.name }
    for (name, comment) in codes { rows.append(try await row(name, comment, of: module)) }
    #expect(!codes.isEmpty)
    try Repository.expect(
      "Sources/RequestBehaviors/RequestBehaviors.docc/ErrorCodes.md", contains: rows.joined(separator: "\n"))
  }

  @Test func `every code has a remedy, and every remedy is that of a code`() throws {
    let names = try Set(Repository.modules.flatMap { try codes(of: $0).map(\.name) })
    #expect(Set(Self.remedies.keys).symmetricDifference(names).isEmpty)
  }
}
