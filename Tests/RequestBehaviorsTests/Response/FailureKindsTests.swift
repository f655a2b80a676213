import RequestBehaviors
import Testing

/// What each error code means for retries, circuit breakers and caches.
@Suite(.limited) struct FailureKindsTests {
  private static let codes: [NetworkError.Code] = [
    .invalidURL, .invalidRequest, .encodingFailed, .invalidBehavior, .credentialsWithheld, .cannotConnect, .dnsFailed,
    .tlsFailed, .connectionLost, .truncatedBody, .badResponse, .timedOut, .bodyTooLarge, .unsupportedAddress,
    .clientShutDown, .bodyConsumed, .bodyUnreadable, .transportFailed, .tooManyAttempts, .deadlineExceeded,
    .circuitOpen, .rateLimited, .concurrencyLimited, .gateClosed, .offline, .intercepted, .unacceptableStatus,
    .redirectFailed, .linkNotFollowed, .decodingFailed, .emptyBody, .unexpectedContentType, .bodyNotBuffered,
    .tokenUnavailable, .tokenStoreFailed, .notSignedIn, .signedOut,
  ]

  @Test(
    arguments: [
      (
        FailureKinds.network,
        ["cannotConnect", "connectionLost", "dnsFailed", "timedOut", "transportFailed", "truncatedBody"]
      ),
      (.refusal, ["circuitOpen", "concurrencyLimited", "deadlineExceeded", "gateClosed", "offline", "rateLimited"]),
      (
        .final,
        [
          "bodyConsumed", "circuitOpen", "clientShutDown", "concurrencyLimited", "deadlineExceeded", "gateClosed",
          "invalidBehavior", "offline", "rateLimited", "tooManyAttempts",
        ]
      ),
      (
        .unsent,
        [
          "bodyConsumed", "cannotConnect", "circuitOpen", "concurrencyLimited", "credentialsWithheld", "dnsFailed",
          "encodingFailed", "gateClosed", "invalidBehavior", "invalidRequest", "invalidURL", "notSignedIn", "offline",
          "rateLimited", "tlsFailed", "tokenStoreFailed", "tokenUnavailable", "unsupportedAddress",
        ]
      ),
    ])
  func `a kind contains its own codes only`(kind: FailureKinds, names: [String]) {
    #expect(FailureKindsTests.codes.filter { $0.kinds.contains(kind) }.map(\.rawValue).sorted() == names)
  }

  @Test(arguments: codes) func `a transient code belongs to the network, a refusal or a portal`(code: NetworkError.Code)
  {
    let isExpected = !code.kinds.isDisjoint(with: [.network, .refusal]) || code == .intercepted
    #expect(code.kinds.contains(.transient) == isExpected)
  }

  @Test(arguments: codes) func `an error has the kind of its code`(code: NetworkError.Code) {
    let error = NetworkError(code, "")
    #expect(error.isRefusedLocally == code.kinds.contains(.refusal))
    #expect(error.isTransient == code.kinds.contains(.transient))
    #expect(error.lastAttemptMayHaveArrived != code.kinds.contains(.unsent))
  }

  @Test func `a custom code has no kind`() {
    #expect(NetworkError.Code(rawValue: "mine").kinds == [])
  }

  @Test(arguments: [
    (408, true), (429, true), (499, false), (500, true), (501, false), (503, true), (505, false), (599, true),
  ])
  func `a circuit breaker counts the statuses of a broken server`(status: Int, counts: Bool) {
    #expect(StatusCodes.brokenServer.contains(status) == counts)
  }
}
