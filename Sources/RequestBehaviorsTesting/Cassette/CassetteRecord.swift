import Foundation
import RequestBehaviors

/// One send that is being recorded, with its true bytes; they are redacted when the file is written.
final class CassetteRecord: Sendable {
  struct State: Sendable {
    var statusCode: Int?
    var version: String?
    var headers = HeaderFields()
    var interim: [InterimResponse] = []
    var chunks: [(at: Duration, data: Data)] = []
    var trailers: HeaderFields?
    var headAt: Duration?
    var connection: ConnectionTimings?
    var failure: NetworkError?
    /// The time until a repeat may succeed, as the failure told it.
    var repeatDelay: Duration?
    /// Whether the reader left before the end.
    var isCancelled = false
    var endedAt: Duration?
    var secrets: Set<String> = []
  }

  let method: String
  let url: String
  let fields: HeaderFields
  let body: Data?
  let contentType: String?
  let date: Date
  private let start: Duration
  private let call: Call
  let isStreamed: Bool
  private let redactor: Redactor
  private let state: Locked<State>

  /// Begins to record a request, whose body is in memory.
  init(_ request: NetworkRequest, redactor: Redactor) {
    method = request.method.rawValue
    url = request.url.absoluteString
    fields = request.headers
    body = request.body?.data
    contentType = request.headers[.contentType] ?? request.body?.contentType
    call = request.call
    isStreamed = request.options.delivery == .streamed
    date = call.clock.date()
    start = call.clock.now()
    self.redactor = redactor.showingOthers(among: fields)
    var state = State()
    state.secrets = self.redactor.hiding(secretsOf: request).hiddenValues
    self.state = Locked(state)
  }

  /// The facts that are known by now, also the secrets that the call has learnt since its end, and those of a response
  /// under way.
  var facts: State {
    let learnt = redactor.hiding(secretsOf: call).hiddenValues
    return state.withLock { state in
      state.secrets.formUnion(learnt)
      if state.endedAt == nil { state.learnSecretsOfResponse(redactor) }
      return state
    }
  }

  /// Whether the send has ended.
  var hasEnded: Bool { state.withLock { $0.endedAt != nil } }

  /// Whether there is something to play: not for a send that was cancelled before its response was whole.
  ///
  /// A stream that its reader left is played, and its end is an error that says so.
  var isPlayable: Bool {
    state.withLock { ($0.statusCode != nil || $0.failure != nil) && (isStreamed || !$0.isCancelled) }
  }

  private var elapsed: Duration { call.clock.now() - start }

  func note(_ response: NetworkResponse) {
    let elapsed = elapsed
    state.withLock { state in
      state.statusCode = response.statusCode
      state.headers = response.headers
      state.interim = response.interimResponses
      state.headAt = elapsed
      state.connection = response.timings.connection
      state.version = response.timings.connection?.protocolName
    }
  }

  func note(_ chunk: Data) {
    let elapsed = elapsed
    state.withLock { $0.chunks.append((elapsed, chunk)) }
  }

  func end(_ error: (any Error)?, trailers: HeaderFields?, of request: NetworkRequest) {
    let (elapsed, now) = (elapsed, call.clock.date())
    let known = redactor.hiding(secretsOf: request).hiddenValues
    state.withLock { state in
      state.trailers = trailers
      // A reader that stops early is no failure of the server.
      state.isCancelled = error is CancellationError || (error as? NetworkError)?.code == .clientShutDown
      state.failure = state.isCancelled ? nil : error.map { $0 as? NetworkError ?? Self.unknown($0) }
      state.repeatDelay = state.failure?.availableAt.map { Duration(clamping: $0.timeIntervalSince(now)) }
      state.endedAt = elapsed
      state.secrets.formUnion(known)
      state.learnSecretsOfResponse(redactor)
    }
  }

  private static func unknown(_ error: any Error) -> NetworkError {
    NetworkError(.connectionLost, Redactor.standard.redact(text: "\(error)"))
  }
}

extension CassetteRecord.State {
  /// Adds the secrets of what has come of the response.
  fileprivate mutating func learnSecretsOfResponse(_ redactor: Redactor) {
    let fields = [headers, trailers ?? HeaderFields()] + interim.map(\.headers)
    for field in fields.joined() where field.isSensitive || field.isNamedLikeCredential {
      secrets.formUnion(redactor.secrets(in: HeaderFields([field])))
    }
    let body = Data(chunks.map(\.data).joined())
    // Short values of bodies, such as a PIN, may be part of anything.
    let named = redactor.secrets(inBody: body, contentType: headers[.contentType])
    secrets.formUnion(named.filter { $0.utf8.count >= 8 })
  }
}
