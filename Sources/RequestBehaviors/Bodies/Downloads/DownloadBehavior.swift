import Foundation

/// Writes the body of a response to a file while it arrives, and asks a later attempt only for the missing rest.
///
/// A client adds it to the requests of ``NetworkClient/download(_:to:resumes:checksum:limit:)``. It is further in than
/// retries, so the next attempt continues a body that broke off. It is further out than redirects, so each attempt
/// begins at the URL of the request.
struct DownloadBehavior: ResumingBehavior {
  let order = BehaviorOrder.outside(.redirects)
  let file: DownloadFile
  /// The owners at the time at which the caller asked for the download, which may have waited for its place since.
  let owner: CallOwner
  let resumes: Bool
  let checksum: Checksum?
  let limit: Int64?

  /// The number of bytes that are collected before a write, because each write changes threads.
  private static let partLength = 256 * 1_024

  func intercept(_ original: NetworkRequest, next: Next) async throws -> NetworkResponse {
    // Such a call may last longer than the download, and its response is for another purpose.
    if original.call.isBesideItsDownload { return try await next(original) }
    try owner.verify()
    let attempt = file.beginAttempt()
    var request = original
    // Ranges count the bytes of the encoded body, but the file gets the decoded ones.
    if !request.headers.contains("Accept-Encoding") { request.headers["Accept-Encoding"] = "identity" }
    let isPartWanted = request.headers.contains("Range")
    let mayResume = resumes && request.method == .get && !isPartWanted
    let owner = mayResume ? DownloadOwner(request) : nil
    file.belong(to: request.call)
    var partial: DownloadHeadDecision.Partial?
    switch await file.found(for: owner) {
    case .nothing: break
    case .unusable(let reason): noteRestart(reason, request)
    case .partial(let found): partial = found
    }

    var response = try await next(request.asking(forRestAfter: partial))
    var isOwned = next.knowsOwner(of: response)
    var step = DownloadHeadDecision(after: partial, response, isPartWanted: isPartWanted, isOwned: isOwned)
    if case .restart(let reason) = step {
      noteRestart(reason, request)
      response.body.cancel()
      partial = nil
      response = try await next(request)
      isOwned = next.knowsOwner(of: response)
      step = DownloadHeadDecision(after: nil, response, isPartWanted: isPartWanted, isOwned: isOwned)
    }
    // Without the event, the reader of a log would suspect the validator of the server.
    if !isOwned, step == .begin, owner.flatMap({ response.downloadRecord(for: $0) }) != nil {
      noteUnknownOwner(request)
    }
    guard try await write(&response, by: step, after: partial, isOwned ? owner : nil, in: attempt) else {
      return response
    }
    try await verify(response, in: attempt)
    response.body = .file(file.partial)
    return response
  }

  private func noteRestart(_ reason: String, _ request: NetworkRequest) {
    request.call.record("the download begins anew: \(reason)", from: "DownloadBehavior", kind: .download)
  }

  private func noteUnknownOwner(_ request: NetworkRequest) {
    request.call.record(
      "an interruption will begin the download anew: the owner of the response is not known, because a secret was added "
        + "without a scope(for:)", from: "DownloadBehavior", kind: .download)
  }

  /// Takes a step.
  ///
  /// - Returns: `false` if the response has no file.
  private func write(
    _ response: inout NetworkResponse, by step: DownloadHeadDecision, after partial: DownloadHeadDecision.Partial?,
    _ owner: DownloadOwner?, in attempt: Int
  ) async throws -> Bool {
    let length = partial?.length ?? 0
    switch step {
    case .pass, .restart: return false
    case .fail(let reason):
      response.body.cancel()
      throw NetworkError(.badResponse, reason, response: response.withoutStream)
    case .begin:
      // RFC 9110 §6.4.1: these have no body, whatever their fields say.
      let isEmpty = response.request.method == .head || response.statusCode == 204
      let total = isEmpty ? nil : response.headers.contentLength
      try checkLimit(total, response)
      try await file.begin(owner.flatMap { response.downloadRecord(for: $0) }, in: attempt)
      try await drain(response, from: 0, total: total, in: attempt)
    case .append(let total):
      response.request.call.record("the download goes on at byte \(length)", from: "DownloadBehavior", kind: .download)
      try checkLimit(total, response)
      response.request.options.progress?.resume(at: length)
      if let partial { file.removeWithScope(partial.record) }
      try await file.resume(at: length, in: attempt)
      try await drain(response, from: length, total: total, in: attempt)
      response.describeWhole(length: total)
    case .complete:
      try checkLimit(length, response)
      response.body.cancel()
      try await file.resume(at: length, in: attempt)
      // This is the type of the error text in the 416, not of the file.
      response.headers.removeAll { HeaderFields.areEqual($0.name, "Content-Type") }
      response.describeWhole(length: length)
    }
    return true
  }

  /// Writes the rest of the body; the bytes before a failure stay in the file.
  func drain(_ response: NetworkResponse, from start: Int64, total: Int64?, in attempt: Int) async throws {
    var count = start
    var pending: [UInt8] = []
    var isTooLong = false
    let body = response.body
    if case .stream(let stream) = body {
      response.request.call.lifetime?.endWithClient(stream)
      file.endWithOwner(stream, in: attempt)
    }
    defer { file.forgetBody(of: attempt) }
    do {
      for try await chunk in response.bytes {
        count += Int64(chunk.count)
        if let limit, count > limit {
          isTooLong = true
          throw NetworkError.downloadTooLarge(limit: limit)
        }
        pending.append(contentsOf: chunk)
        if pending.count >= DownloadBehavior.partLength { try await write(&pending, in: attempt) }
      }
      try Task.checkCancellation()
      try await write(&pending, in: attempt)
      if let total, count != total { throw NetworkError.downloadLength(count, of: total) }
    } catch {
      if case .stream(let stream) = body { stream.cancel(throwing: error) }
      try? await write(&pending, in: attempt)
      // A file that is longer than the limit, or than the server announced, is not worth keeping.
      if isTooLong || total.map({ count > $0 }) == true { await file.discard(in: attempt) }
      throw described(error, response)
    }
  }

  /// Writes bytes, and empties them before that: after a failed write the same bytes are not written again.
  private func write(_ pending: inout [UInt8], in attempt: Int) async throws {
    var part: [UInt8] = []
    swap(&part, &pending)
    try await file.write(part, in: attempt)
    // New memory of this length would take longer to fill than the old.
    part.removeAll(keepingCapacity: true)
    swap(&part, &pending)
  }

  private func checkLimit(_ total: Int64?, _ response: NetworkResponse) throws {
    guard let limit, let total, total > limit else { return }
    response.body.cancel()
    throw described(NetworkError.downloadTooLarge(limit: limit), response)
  }

  /// Checks the whole file of an attempt.
  func verify(_ response: NetworkResponse, in attempt: Int) async throws {
    guard let checksum else { return file.noteWhole(in: attempt) }
    let found = try await file.digest()
    guard found != checksum.hexadecimal else { return file.noteWhole(in: attempt) }
    await file.discard(in: attempt)
    throw described(NetworkError.checksumMismatch(found, checksum), response)
  }

  /// Returns the error with the request that failed.
  ///
  /// The error does not hold the response, whose body may be large.
  private func described(_ error: any Error, _ response: NetworkResponse) -> any Error {
    guard var error = error as? NetworkError else { return error }
    if error.request == nil { error.request = response.request }
    return error
  }
}

/// Opens and locks the file of a download when its request has passed the limits and is about to be sent.
struct DownloadLockBehavior: RequestBehavior {
  let order = BehaviorOrder.last
  let file: DownloadFile

  func modify(_ request: inout NetworkRequest) async throws {
    if !request.call.isBesideItsDownload { try await file.open() }
  }
}

extension DownloadHeadDecision {
  fileprivate init(after partial: Partial?, _ response: NetworkResponse, isPartWanted: Bool, isOwned: Bool) {
    self.init(
      after: partial, status: response.statusCode, response.headers, isAccepted: response.isAcceptable,
      isPartWanted: isPartWanted, isElsewhere: partial?.record.isFrom(response.request.url) == false,
      isProved: response.verification == .verified, isOwned: isOwned)
    // Only the server itself can say that nothing is missing or that the whole file must be sent again.
    if !response.isVerified { self = .pass }
  }
}

extension NetworkRequest {
  /// Returns the request for the missing rest of a file (RFC 9110 §14.2, §13.1.5).
  fileprivate func asking(forRestAfter partial: DownloadHeadDecision.Partial?) -> NetworkRequest {
    guard let partial else { return self }
    var request = self
    request.headers["Range"] = "bytes=\(partial.length)-"
    request.headers["If-Range"] = partial.record.validator
    request.headers["Accept-Encoding"] = "identity"
    return request
  }
}

extension NetworkResponse {
  /// Returns the record of the file that the response begins; `nil` if its download could not be resumed.
  fileprivate func downloadRecord(for owner: DownloadOwner) -> DownloadRecord? {
    DownloadRecord(of: headers, from: request.url, for: owner, isProved: verification == .verified)
  }

  /// Makes the response one of the whole file, as RFC 9110 §15.3.7.3 requires for combined parts.
  fileprivate mutating func describeWhole(length: Int64) {
    statusCode = 200
    headers.removeAll { HeaderFields.areEqual($0.name, "Content-Range") }
    headers["Content-Length"] = "\(length)"
  }
}

extension Call.Event.Kind {
  /// A download went on where an earlier one had ended, or began anew.
  public static let download = Self(rawValue: "download")
}
