import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// On Linux all of these callbacks run on the one queue on which URLSession works for every session of the process. They
// must be quick, except for the writes of a body's spool, and must not call functions of URLSession that wait. It is
// also the queue on which URLSession reads the files that are sent. Tasks are cancelled on the registry's queue.
extension TransferRegistry: URLSessionDataDelegate {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    completionHandler(.allow)
    guard let transfer = transfer(of: dataTask), let response = response as? HTTPURLResponse else { return }
    touch(transfer)
    // On Linux an interim response such as 103 comes here too, before the one that the request is waiting for.
    guard !response.isInterim else { return transfer.didReceive(interim: response) }
    #if canImport(FoundationNetworking)
      // So does the response of a proxy to CONNECT. It is of the request's URL and looks like the server's response.
      // The head after one that opened a tunnel is the server's.
      let isAfterTunnel = transfer.heldHead.map { 200..<300 ~= $0.statusCode } ?? false
      if transfer.request.mayBeTunnelled, !isAfterTunnel {
        transfer.heldHead = response
        return
      }
      transfer.heldHead = nil
    #endif
    take(response, of: transfer)
  }

  /// Takes the head that was held back: what follows it shows that it is no proxy's.
  private func takeHeldHead(of transfer: Transfer) {
    guard let response = transfer.heldHead else { return }
    transfer.heldHead = nil
    take(response, of: transfer)
  }

  private func take(_ response: HTTPURLResponse, of transfer: Transfer) {
    didReceiveHead(of: transfer, status: response.statusCode)
    if let error = transfer.didReceive(response) { cutOff(transfer, error) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let transfer = transfer(of: dataTask), !transfer.isSettled else { return }
    touch(transfer)
    takeHeldHead(of: transfer)
    guard !transfer.isSettled else { return }
    do {
      try transfer.append(data)
    } catch {
      cutOff(transfer, error)
    }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let transfer = remove(task), !transfer.isSettled else { return }
    if let error { return fail(transfer, error) }
    // On Linux the head of a redirect that cannot be followed is delivered only now, and one may have been held back.
    if transfer.response == nil, let response = task.response as? HTTPURLResponse, !response.isInterim,
      let error = transfer.didReceive(response)
    {
      return transfer.fail(error)
    }
    transfer.complete()
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    guard let transfer = transfer(of: task) else { return }
    touch(transfer)
    transfer.hasSentBody = true
    if let length = transfer.announcedLength, totalBytesSent > length {
      return cutOff(
        transfer,
        NetworkError(
          .bodyUnreadable,
          "the body file has grown from \(length) bytes while it was sent; send a copy that stays as it is"
        ))
    }
    if totalBytesSent == transfer.announcedLength { transfer.stopWatching() }
    let expected = totalBytesExpectedToSend > 0 ? totalBytesExpectedToSend : transfer.announcedLength
    transfer.progress?.sent(totalBytesSent, of: expected)
  }

  /// Follows no redirect, so that the platform delivers it as the response next.
  ///
  /// On Linux the handler must not be called for a cancelled task: that would crash the process. A transfer is settled
  /// before its task is cancelled, and the cancellation takes effect after this callback. So it is enough to check the
  /// transfer.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    guard let transfer = transfer(of: task), !transfer.isSettled else { return }
    touch(transfer)
    completionHandler(nil)
  }

  #if canImport(FoundationNetworking)
    /// Ends the transfer with the failure that asks for credentials.
    ///
    /// Otherwise the task would never end on Linux.
    ///
    /// Responding to the challenge would cancel the task from here, but tasks must be cancelled on the registry's
    /// queue.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      guard let transfer = transfer(of: task) else { return }
      if let response = challenge.failureResponse as? HTTPURLResponse ?? transfer.response {
        transfer.succeed(response)
      } else {
        transfer.fail(.badResponse, "the server asks for credentials without a response")
      }
      abandon(transfer)
    }

    /// Ends the transfer instead of sending its body again.
    ///
    /// On Linux this is called when a kept-alive connection died before the response began and some of the body was
    /// sent. Those bytes are lost, and URLSession would send the head again without the body. It is unknown whether the
    /// server acted on the first send, so a retry behavior decides about a repeat.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
      completionHandler(nil)
      guard let transfer = transfer(of: task) else { return }
      var error = NetworkError(.connectionLost, "the connection was lost after some of the body was sent")
      error.progress = NetworkError.Progress(.sent, reusedConnection: true)
      transfer.fail(error)
      abandon(transfer)
    }
  #endif

  #if canImport(ObjectiveC)
    /// Asks the trust policy about certificates.
    ///
    /// The system handles other challenges, for which it has no credentials.
    ///
    /// URLSession asks here because there is no method for a whole session (Apple:
    /// "urlSession(_:didReceive:completionHandler:)").
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      // The handler is called once, from any thread.
      nonisolated(unsafe) let answer = completionHandler
      serverTrust.answer(challenge) { [self] decision in
        switch decision {
        case .system: answer(.performDefaultHandling, nil)
        case .credential(let credential): answer(.useCredential, credential)
        case .failure(let error):
          transfer(of: task)?.fail(error.unsent)
          answer(.cancelAuthenticationChallenge, nil)
        }
      }
    }

    /// Keeps the platform's measurements.
    ///
    /// They arrive before the end of the task, if at all.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
      guard let transfer = transfer(of: task), let last = metrics.transactionMetrics.last else { return }
      transfer.connection = ConnectionTimings(
        nameLookup: (last.domainLookupStartDate, last.domainLookupEndDate),
        connecting: (last.connectStartDate, last.connectEndDate),
        securing: (last.secureConnectionStartDate, last.secureConnectionEndDate),
        isReused: last.isReusedConnection, protocolName: last.networkProtocolName)
    }
  #endif

  private func fail(_ transfer: Transfer, _ error: any Error) {
    let meaning = TransportFailure(
      error, isWithinBody: transfer.response != nil, hasSentBody: transfer.hasSentBody)
    var failure = meaning.networkError
    let stage: NetworkError.Progress.Stage =
      if transfer.response != nil { .headReceived } else { failure.mayHaveArrived ? .sent : .notSent }
    let isReused = meaning.isOfSecondConnection ? true : transfer.connection?.isReused
    failure.progress = NetworkError.Progress(stage, reusedConnection: isReused)
    // If neither the code nor the text tells the failure, the length may.
    if failure.code == .transportFailed, let missing = transfer.missing {
      var truncated = NetworkError(.truncatedBody, missing, underlyingError: error)
      truncated.progress = failure.progress
      transfer.fail(truncated)
    } else {
      transfer.fail(failure)
    }
  }

  private func cutOff(_ transfer: Transfer, _ error: any Error) {
    transfer.fail(error)
    abandon(transfer)
  }
}

/// Makes the operation queue on which a session calls its delegate.
enum DelegateQueue {
  /// Makes a queue that runs one callback at a time, on Apple platforms over the given queue.
  static func make(over queue: DispatchQueue) -> OperationQueue {
    #if canImport(FoundationNetworking)
      return InlineOperationQueue()
    #else
      let operations = OperationQueue()
      operations.maxConcurrentOperationCount = 1
      operations.underlyingQueue = queue
      return operations
    #endif
  }
}

#if canImport(FoundationNetworking)
  /// An operation queue that runs each block at once, on the thread that adds it.
  ///
  /// URLSession on Linux does all its work on one serial queue and adds a block for every callback from there, so the
  /// order of callbacks is kept. Running the block there saves three thread changes per request. It also prevents
  /// chunks from piling up without limit. In return a callback must be quick, because it blocks every session of the
  /// process. It must not call a function that waits for that queue, such as `resume()` or `cancel()`.
  private final class InlineOperationQueue: OperationQueue, @unchecked Sendable {
    // Unchecked because the superclass is. This class adds no state.
    override init() {
      super.init()
      maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif

#if canImport(FoundationNetworking)
  extension NetworkRequest {
    /// Whether URLSession may send the request through a tunnel of the environment's proxy.
    fileprivate var mayBeTunnelled: Bool {
      guard url.scheme?.lowercased() == "https" else { return false }
      // libcurl does not ask `http_proxy` for them.
      return ProxyCredentials.names.contains { $0 != "http_proxy" && getenv($0).map { $0.pointee != 0 } ?? false }
    }
  }
#endif
