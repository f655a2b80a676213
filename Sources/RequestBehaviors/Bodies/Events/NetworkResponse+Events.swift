/// Decides whether a response has events.
extension NetworkResponse {
  /// Returns the response if it has events; `nil` if it is a 204, which ends the events.
  ///
  /// - Throws: ``NetworkError`` of code `unexpectedContentType` with the beginning of the body: what comes of it within
  ///   a second, because no time limit of the call holds after the head.
  func eventStream() async throws -> NetworkResponse? {
    guard statusCode != 204 else {
      body.cancel()
      return nil
    }
    let wanted = request.options.acceptableContentTypes ?? ["text/event-stream"]
    let found = headers["Content-Type"]
    if wanted.isEmpty { return self }
    if let found, let type = MediaType(found), wanted.contains(where: type.matches) { return self }
    throw NetworkError(
      .unexpectedContentType,
      "the body is \(found ?? "of no content type"), wanted \(wanted.joined(separator: " or ")) for server-sent events; "
        + "set acceptableContentTypes to read it all the same", response: try await excerpt(within: .seconds(1)))
  }
}
