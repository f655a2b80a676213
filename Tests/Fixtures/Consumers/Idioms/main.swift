// Built in release mode: the optimizer inlines the library's small functions here, and must survive what users write.
import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite
import RequestBehaviorsTesting

func describe(_ error: any Error) -> [String] {
  guard let e = error as? NetworkError else { return ["\(error)"] }
  return [
    e.statusCode.map { "\($0)" } ?? "-",
    e.statusCode.flatMap { $0 > 400 ? $0 : nil }.map(String.init) ?? "-",
    e.response.map { "\($0.statusCode)" } ?? "-",
    e.response.flatMap { $0.headers["ETag"] } ?? "-",
    e.response?.headers["ETag"] ?? e.response?.headers["Date"] ?? "-",
    e.request.map { "\($0.method) \($0.url)" } ?? "-",
    e.request?.origin.map { "\($0)" } ?? "-",
    e.request?.body?.data.map { "\($0.count)" } ?? "-",
    e.request?.timeout.map { "\($0)" } ?? "-",
    e.underlyingError.map { "\($0)" } ?? "-",
    (e.underlyingError as? NetworkError)?.statusCode.map { "\($0)" } ?? "-",
    e.attempts.last.map { "\($0)" } ?? "-",
    e.attempts.last?.endedAt.map { "\($0)" } ?? "-",
    e.errorDescription.map { "\($0.count)" } ?? "-",
    e[keyPath: \.statusCode].map { "\($0)" } ?? "-",
    e[keyPath: \.response?.statusCode].map { "\($0)" } ?? "-",
    "\(e.code) \(e.message)",
  ]
}

func advise(_ error: any Error) -> String {
  switch error {
  case let e as NetworkError where e.statusCode == 404: "missing"
  case let e as NetworkError where e.statusCode.map { 500...599 ~= $0 } ?? false: "later"
  case let e as NetworkError where (e.response?.statusCode ?? 0) >= 400: "wrong"
  case let e as NetworkError where e.code == .timedOut || e.code == .cannotConnect: "offline"
  case is CancellationError: "cancelled"
  case let e as SQLiteError: describe(e).joined()
  case let e as any LocalizedError: e.errorDescription ?? "?"
  default: "\(error)"
  }
}

func change(_ error: any Error) -> any Error {
  guard var e = error as? NetworkError else { return error }
  e.response?.headers["X-Seen"] = "1"
  e.response = e.response.map {
    var copy = $0
    copy.statusCode += 1
    return copy
  }
  e.request?.headers.set("X-Seen", "2")
  e.underlyingError = e.underlyingError ?? CocoaError(.featureUnsupported)
  return e
}

func describe(_ response: NetworkResponse?) -> [String] {
  guard let r = response else { return [] }
  let body =
    switch r.body {
    case .data(let data): "\(data.count)"
    case .file(let url): url.path
    case .stream: "stream"
    }
  return [
    body,
    r.timings.firstByte.map { "\($0)" } ?? "-",
    r.timings.total.map { "\($0)" } ?? "-",
    (try? r.data).map { "\($0.count)" } ?? "-",
    (try? r.text) ?? "-",
    r.headers["Content-Type"].map { $0.lowercased() } ?? "-",
    r.headers.first { $0.isSensitive }.map(\.name) ?? "-",
    r.headers.map(\.name).joined(),
    r.headers.first?.sensitivity.map { "\($0)" } ?? "-",
    r.attempts.first?.endedAt.flatMap { $0 > .zero ? $0 : nil }.map { "\($0)" } ?? "-",
    r.request.origin.map { "\($0)" } ?? "-",
    r.request.body.map { $0.contentType ?? "?" } ?? "-",
    r.request.body?.length.map { "\($0)" } ?? "-",
    r.request.idleTimeout.map { "\($0)" } ?? "-",
    r.request.options.environment.map { "\($0.baseURL)" } ?? "-",
    r.request.options.acceptableContentTypes.map { $0.joined() } ?? "-",
    r.request.call.deadline.map { "\($0)" } ?? "-",
    r.request.call.parent.map { "\($0)" } ?? "-",
    r.request.call.baseOrigin.map { "\($0)" } ?? "-",
    r.request.call.events.last.map(\.message) ?? "-",
    "\(r.source) \(r.isVerified) \(r.isAcceptable)",
    r[keyPath: \.request.url.path],
  ]
}

func describe(_ attempts: [Attempt]) -> [String] {
  attempts.map { attempt in
    switch attempt.outcome {
    case .pending: "pending"
    case .response(let status, let bytes?) where status < 300: "\(status) \(bytes)"
    case .response(let status, let bytes): bytes.map { "\(status) \($0)" } ?? "\(status)"
    case .failure(let code?, let message): "\(code) \(message)"
    case .failure(nil, let message): message
    case .cancelled: "cancelled"
    }
  }
}

func describe<Value>(_ request: Request<Value>) -> [String] {
  [
    request.body.map { _ in "body" } ?? "-",
    request.options.timeout.map { "\($0)" } ?? "-",
    request.headers["Accept"].map { $0 } ?? "-",
    "\(request.method)",
  ]
}

func describe(_ report: CallReport) -> [String] {
  [
    report.response.map { "\($0.statusCode)" } ?? "-",
    report.request?.origin.map { "\($0)" } ?? "-",
    (report.error as? NetworkError)?.statusCode.map { "\($0)" } ?? "-",
    (report.lastFailure as? NetworkError)?.response.map { "\($0.statusCode)" } ?? "-",
  ]
}

func describe(_ response: Response<Int>?) -> [String] {
  [
    response.map { "\($0.value)" } ?? "-",
    response?.http.headers["ETag"].map { $0 } ?? "-",
    response[keyPath: \.?.http.statusCode].map { "\($0)" } ?? "-",
  ]
}

func describe(_ error: SQLiteError) -> [String] {
  [
    error.sql.map { $0.lowercased() } ?? "-",
    error.offset.map { "\($0)" } ?? "-",
    error.path.flatMap { $0.isEmpty ? nil : $0 } ?? "-",
    error.row.map { "\($0)" } ?? "-",
    "\(error.code) \(error.message)",
  ]
}

// Everything above runs too, with a response, an error of a status, and an error without a response.
let server = try LoopbackServer { request in
  switch request.path {
  case "/7": .json("7").header("ETag", "\"v\"")
  default: .text("no", status: 404)
  }
}
var configuration = RequestConfiguration(baseURL: server.baseURL)
configuration.behaviors.append(.onCallEnd { report in _ = describe(report).count })
let client = NetworkClient(configuration: configuration)
let seven = try await client.response(for: Request<Int>.get("7"))
var lines = describe(seven) + describe(seven.http) + describe(seven.http.attempts)
lines += describe(Request<Int>.get("7").with(\.timeout, .seconds(1)))
for path: RequestPath in ["missing", "../../../outside"] {
  do {
    try await client.send(.get(path))
  } catch {
    lines += describe(error) + [advise(error)] + describe(change(error))
  }
}
print("Idioms described \(lines.count) things")
exit(lines.contains("404") && lines.contains("missing") ? 0 : 1)
