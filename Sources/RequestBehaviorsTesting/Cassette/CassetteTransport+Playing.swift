import Foundation
import RequestBehaviors

extension CassetteTransport {
  func play(
    _ entry: CassetteEntry, to request: NetworkRequest, at start: Duration
  ) async throws -> NetworkResponse {
    do {
      let player = try CassettePlayer(entry, folder: file.folder, pace: pace, request, at: start)
      // Without waits the response is there at once, so it needs no task of its own.
      guard pace.waits else { return try open.watched(try await player.response()) }
      return try open.watched(try await open.response { try await player.response() })
    } catch let error as CassetteError {
      // The code under test may go on without a response.
      state.withLock { $0.unmatched.append(error.description) }
      throw NetworkError(.unmatchedRequest, error.description, request: request)
    }
  }

  /// Throws if a request has a credential that a played entry gave: no server would know it.
  func checkCredentials(of request: NetworkRequest) throws {
    guard mode == .recordMissing else { return }
    let entries = state.withLock { $0.entries }
    guard !entries.used.isEmpty else { return }
    var texts = request.headers.map(\.value) + [request.url.absoluteString]
    if let body = request.body?.data, body.count <= 65_536 { texts.append(String(decoding: body, as: UTF8.self)) }
    let placeholders = texts.flatMap { RedactionPlaceholders.pieces(of: $0).dropFirst().map(\.placeholder) }
    guard !placeholders.isEmpty else { return }
    // Zeros with a number may also be an identifier of the test itself.
    let given = entries.used.map { entries.all[$0].json.line }
    let isGiven = placeholders.contains { placeholder in
      placeholder.hasPrefix(Redactor.placeholder) || given.contains { $0.contains(placeholder) }
    }
    guard isGiven else { return }
    throw NetworkError(
      .unmatchedRequest,
      "\(request.method) \(redactor.redact(request.url)) is not in \(file.name), and needs a credential that the file "
        + "hides; record the whole test: \(file.commandForAll)", request: request)
  }

  /// A redactor that hides the credentials of all requests so far, because one may be part of a later request.
  func redactor(for request: NetworkRequest) -> Redactor {
    let own = redactor.hidingCredentials(of: request)
    let all = state.withLock { state in
      // A placeholder that the file gave is compared by its number.
      state.secrets.formUnion(own.hiddenValues.filter { !RedactionPlaceholders.isPlaceholder($0) })
      return state.secrets
    }
    return redactor.hiding(Array(all))
  }

  /// Returns the request as it may be recorded: without the values of its credentials wherever they appear, or without
  /// its credentials alone, because that of a test, such as `test`, may also be a part of a path or a body.
  func sketches(_ request: NetworkRequest) -> [RequestSketch] {
    [redactor(for: request), redactor].map { redactor in
      PlayableRedaction(redactor, numbered: false).sketch(
        method: request.method.rawValue, url: request.url.absoluteString, fields: request.headers,
        body: request.body?.data,
        contentType: request.headers[.contentType] ?? request.body?.contentType)
    }
  }
}

extension Redactor {
  /// Returns a redactor that hides the credentials of a request wherever they appear.
  func hidingCredentials(of request: NetworkRequest) -> Redactor {
    hiding(Array(showingOthers(among: request.headers).hiding(secretsOf: request).hiddenValues))
  }

  /// Returns a redactor to which only credentials among some fields are secret.
  ///
  /// A value that is hidden in logs only because its name is not on the list is no credential.
  func showingOthers(among fields: HeaderFields) -> Redactor {
    let others = fields.filter { !$0.isSensitive && !$0.isNamedLikeCredential && !allowedHeaders.contains($0.name) }
    // A changed list is prepared anew, which takes longer than all else.
    if others.isEmpty { return self }
    var redactor = self
    redactor.allowedHeaders.formUnion(others.map(\.name))
    return redactor
  }
}
