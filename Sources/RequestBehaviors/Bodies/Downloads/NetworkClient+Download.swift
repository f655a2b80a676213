public import Foundation

extension NetworkClient {
  /// Sends a request and writes the body of its response to a file.
  ///
  /// ```swift
  /// let response = try await client.download(
  ///   .get("exports/\(id)"), to: folder.appending(path: "export.zip"))
  /// ```
  ///
  /// The file appears at its destination when it is whole and every behavior has accepted the response; until then a
  /// file that was there stays. The response has the status 200 and the file as its body. A 304 leaves the destination
  /// alone.
  ///
  /// The unfinished file is kept beside the destination, under a name that ends in `.partial`. When the body breaks
  /// off, a ``RetryBehavior`` in the list continues it: the next attempt requests the rest, by `Range` and `If-Range`
  /// (RFC 9110 §14, §13.1.5). When the download fails or is cancelled, a later one to the same destination continues,
  /// also in a later run of the program. Resuming needs a strong validator of the server, the same URL, the same user
  /// and the same credentials. Otherwise the download begins anew, and the old bytes are removed.
  ///
  /// Only the file's owner can read the unfinished file. When the user signs out, this process removes it, unless
  /// another process downloads to the place. A download under way fails with
  /// ``NetworkError/Code-swift.struct/signedOut``. Ranges must count the bytes of the file, so the request asks for a
  /// body that is not encoded, unless it has an `Accept-Encoding` of its own.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - destination: The URL of the file, in a folder that exists; a file that is there is replaced.
  ///   - resumes: Whether the unfinished file of an earlier download is resumed; `true` by default.
  ///   - checksum: The hash that the whole file must have before it appears at its destination; by default nothing is
  ///     checked.
  ///   - limit: The most bytes to write; by default any number.
  /// - Returns: The response.
  /// - Throws: ``NetworkError``, of code ``NetworkError/Code-swift.struct/downloadInProgress`` while this process or
  ///   another one downloads to the same destination, ``NetworkError/Code-swift.struct/checksumMismatch``,
  ///   ``NetworkError/Code-swift.struct/bodyTooLarge`` or ``NetworkError/Code-swift.struct/fileUnwritable``;
  ///   `CancellationError` if the task was cancelled, or the error of a behavior.
  @concurrent
  @discardableResult
  public func download(
    _ request: Request<NetworkResponse>, to destination: URL, resumes: Bool = true, checksum: Checksum? = nil,
    limit: Int64? = nil
  ) async throws -> NetworkResponse {
    let mapping = errorMapping(of: request)
    do {
      let response = try await originalDownload(
        request, to: destination, resumes: resumes, checksum: checksum, limit: limit)
      return response.leaving(with: mapping)
    } catch {
      throw mapping(error)
    }
  }

  private func originalDownload(
    _ request: Request<NetworkResponse>, to destination: URL, resumes: Bool, checksum: Checksum?, limit: Int64?
  ) async throws -> NetworkResponse {
    // The call begins when the place is free. Another user may have signed in by then.
    let owner = await owners(of: request)
    let file: DownloadFile
    do {
      try checksum?.validate()
      file = try await DownloadFile.take(destination)
    } catch {
      abandon(request)
      throw (error as? NetworkError)?.unsent ?? error
    }
    do {
      let response = try await download(
        request, DownloadBehavior(file: file, owner: owner, resumes: resumes, checksum: checksum, limit: limit))
      await file.release()
      return response
    } catch {
      await file.release()
      throw error
    }
  }

  private func download(
    _ original: Request<NetworkResponse>, _ behavior: DownloadBehavior
  ) async throws -> NetworkResponse {
    var request = original
    request.options.delivery = .streamed
    // The rest of a file is accepted where the whole file is.
    let accepted = configuration.options.overridden(by: request.options).acceptableStatuses
    if accepted.contains(200) { request.options.acceptableStatuses = accepted.union([206]) }
    request.behaviors += [behavior, DownloadLockBehavior(file: behavior.file)]
    // Two attempts at once would write the same file.
    request.removedBehaviors.append(HedgingBehavior.self)
    var performed = try await perform(request)
    do {
      performed.response = try await behavior.finish(performed.response)
      report(performed)
      return performed.response
    } catch {
      report(performed, error: error, phase: .sending)
      throw error
    }
  }
}

extension DownloadBehavior {
  /// Moves the file of a response to its destination.
  ///
  /// A response that did not pass this behavior, for example from a cache, is written to the file first.
  fileprivate func finish(_ response: NetworkResponse) async throws -> NetworkResponse {
    var response = response
    // A response of a cache did not pass `intercept`.
    try owner.verify(for: response)
    if response.statusCode == 304 { return response }
    file.belong(to: response.request.call)
    if case .file(file.partial) = response.body {
      try await file.commit()
    } else {
      let attempt = file.beginAttempt()
      // The stream may be one of the file, which is then read while the stream is written.
      if case .stream = response.body {
        try await file.beginBeside(in: attempt)
      } else {
        try await file.begin(nil, in: attempt)
      }
      try await drain(response, from: 0, total: nil, in: attempt)
      try await verify(response, in: attempt)
      try await file.commit()
    }
    response.body = .file(file.destination)
    return response
  }
}
