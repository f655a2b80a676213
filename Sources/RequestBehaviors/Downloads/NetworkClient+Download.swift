public import Foundation

extension NetworkClient {
  /// Sends a request and writes the body of its response to a file.
  ///
  /// ```swift
  /// let response = try await client.download(
  ///   .get("exports/\(id)"), to: folder.appending(path: "export.zip"))
  /// ```
  ///
  /// The file appears at its place when it is whole and every behavior has let the response pass; until then what was
  /// there stays there. The response has the status 200 and the file as its body. A 304 leaves the place alone.
  ///
  /// What has come is kept beside the destination, in a file whose name ends in `.partial`. When the body breaks off, a
  /// ``RetryBehavior`` in the list goes on with it: the request asks for the rest, by `Range` and `If-Range` (RFC 9110
  /// §14, §13.1.5). When the download fails or is cancelled, a later one to the same destination goes on, also in a later
  /// run of the program. That takes a strong validator of the server's, the same URL, the same user and the same
  /// credentials; else the file is begun anew, and what is of no use is removed. Only the file's owner can read what has
  /// come; when the user signs out, this process removes it, and a download under way fails with
  /// ``NetworkError/Code-swift.struct/signedOut``. So that ranges count what is written, the request asks for a body that
  /// is not encoded, unless it has an `Accept-Encoding` of its own.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - destination: The URL of the file, in a folder that exists; a file that is there is replaced.
  ///   - resumes: Whether what an earlier download left is gone on with; true by default.
  ///   - checksum: What the file must hash to, whole, before it appears at its place; by default nothing is checked.
  ///   - limit: The most bytes to write; by default any number.
  /// - Returns: The response.
  /// - Throws: ``NetworkError``, of code ``NetworkError/Code-swift.struct/downloadInProgress`` while this process
  ///   or another one downloads to the same destination, ``NetworkError/Code-swift.struct/checksumMismatch``,
  ///   ``NetworkError/Code-swift.struct/bodyTooLarge`` or ``NetworkError/Code-swift.struct/fileUnwritable``;
  ///   `CancellationError` if the task was cancelled, or what a behavior threw.
  @concurrent
  @discardableResult
  public func download(
    _ request: Request<NetworkResponse>, to destination: URL, resumes: Bool = true, checksum: Checksum? = nil,
    limit: Int64? = nil
  ) async throws -> NetworkResponse {
    let file: DownloadFile
    do {
      try checksum?.validate()
      file = try await DownloadFile.take(destination)
    } catch {
      // There is no call whose end would tell it.
      configuration.options.overridden(by: request.options).progress?.finish()
      throw error
    }
    do {
      let response = try await download(
        request, DownloadBehavior(file: file, resumes: resumes, checksum: checksum, limit: limit))
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
    // The rest of a file is as good as the whole.
    let accepted = configuration.options.overridden(by: request.options).acceptableStatuses
    if accepted.contains(200) { request.options.acceptableStatuses = accepted.union([206]) }
    request.behaviors.append(behavior)
    // Two at once would write one file.
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
  /// Moves the file of a response to its place; that of one that did not come this way, from a cache for example, is
  /// written first.
  fileprivate func finish(_ response: NetworkResponse) async throws -> NetworkResponse {
    var response = response
    if response.statusCode == 304 { return response }
    file.belong(to: response.request.call)
    if case .file(file.partial) = response.body {
      try await file.commit()
    } else {
      try await file.begin(nil)
      try await drain(response, from: 0, total: nil)
      try await verify(response)
      try await file.commit()
    }
    response.body = .file(file.destination)
    return response
  }
}
