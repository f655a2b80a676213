extension NetworkClient {
  /// Returns the mapping of the errors that leave the client for a request, even if its list of behaviors is wrong.
  ///
  /// A behavior decides by the errors of its prerequisites, so those are never replaced.
  func errorMapping<Value>(of request: Request<Value>) -> ErrorMapping? {
    guard parent == nil else { return nil }
    if request.behaviors.isEmpty, request.removedBehaviors.isEmpty { return errorMapping }
    if let pipeline = try? pipeline(for: request) { return ErrorMapping(pipeline.entries) }
    return NetworkClient.errorMapping(ofInvalid: request.behaviors) ?? errorMapping
  }

  /// Returns the mapping of the errors that arise after a response has arrived.
  func errorMapping(of performed: PerformedCall) -> ErrorMapping? {
    parent == nil ? performed.chain.errorMapping : nil
  }

  /// Runs work of several requests, such as a sign-in, and replaces its error as that of one request.
  ///
  /// It is for a flow like `OAuth1Flow` of your own. The work sends with ``sendUnmapped(_:)``, because its steps decide
  /// by the errors as they arise. ``MapErrorBehavior`` then sees one error, when it leaves the flow.
  ///
  /// - Parameter work: The work.
  /// - Returns: The result of the work.
  /// - Throws: The error that ``MapErrorBehavior`` makes of that of the work; without one, the error itself.
  public func mappingErrors<Result>(_ work: () async throws -> Result) async throws -> Result {
    do { return try await work() } catch { throw (parent == nil ? errorMapping : nil)(error) }
  }

  private var errorMapping: ErrorMapping? {
    if let chain = try? chain.get() { return chain.errorMapping }
    return NetworkClient.errorMapping(ofInvalid: configuration.behaviors)
  }

  /// Returns the mapping of the last mapper of a list that names a behavior twice.
  private static func errorMapping(ofInvalid behaviors: [any RequestBehavior]) -> ErrorMapping? {
    let entries = Pipeline.flatten(behaviors, source: .configuration).filter { $0.behavior is any ErrorMapper }
    return ErrorMapping(entries.suffix(1))
  }
}

extension Response {
  /// Returns the response as a caller gets it: errors of reading it are replaced too.
  func leaving(with mapping: ErrorMapping?) -> Response {
    guard let mapping else { return self }
    var response = self
    response.http = http.leaving(with: mapping)
    if value is NetworkResponse, let value = response.http as? Value { response.value = value }
    return response
  }
}
