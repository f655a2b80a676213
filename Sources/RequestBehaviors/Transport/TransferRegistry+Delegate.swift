import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// On Linux all of these run on the one queue on which URLSession does its work for every session of the process: they
// are quick and call nothing of URLSession's that waits. What must be cancelled is cancelled on the registry's queue.
extension TransferRegistry: URLSessionDataDelegate {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    completionHandler(.allow)
    guard let transfer = transfer(of: dataTask), let response = response as? HTTPURLResponse else { return }
    touch(transfer)
    transfer.didReceive(response)
    if transfer.announcesTooMuch(response) { cutOff(transfer) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let transfer = transfer(of: dataTask), !transfer.isSettled else { return }
    touch(transfer)
    if !transfer.append(data) { cutOff(transfer) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let transfer = remove(task), !transfer.isSettled else { return }
    if let error {
      transfer.fail(TransportFailure(error).networkError)
    } else if let response = transfer.response ?? task.response as? HTTPURLResponse {
      transfer.succeed(response)
    } else {
      transfer.fail(.badResponse, "the answer is not HTTP")
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    if let transfer = transfer(of: task) { touch(transfer) }
  }

  /// Follows no redirect, so that it comes back as the response.
  ///
  /// On Linux the handler must not be called for a task that is cancelled: that ends the process. A transfer is settled
  /// before its task is cancelled, and the cancellation takes effect after this callback, so a look at it is enough.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    guard let transfer = transfer(of: task), !transfer.isSettled else { return }
    touch(transfer)
    transfer.didReceive(response)
    completionHandler(nil)
  }

  #if canImport(FoundationNetworking)
    /// Ends the transfer with the failure that asks for credentials; left alone, the task would never end on Linux.
    ///
    /// To answer the challenge would cancel the task from here, which has to wait for the registry's queue instead.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      guard let transfer = transfer(of: task) else { return }
      if let response = challenge.failureResponse as? HTTPURLResponse ?? transfer.response {
        transfer.succeed(response)
      } else {
        transfer.fail(.badResponse, "the server asks for credentials without an answer")
      }
      abandon(transfer)
    }

    /// Ends the transfer instead of sending its body again.
    ///
    /// On Linux this is called when a kept-alive connection died before the answer began and some of the body was sent.
    /// What was sent is then gone: left alone, URLSession sends the head again without the body. Whether the server
    /// acted on the first is not known, so to send again is for a retry to decide.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
      completionHandler(nil)
      guard let transfer = transfer(of: task) else { return }
      transfer.fail(.connectionLost, "the connection was lost after some of the body was sent")
      abandon(transfer)
    }
  #endif

  private func cutOff(_ transfer: Transfer) {
    transfer.fail(NetworkError.bodyTooLarge(limit: transfer.request.options.bodyLimit))
    abandon(transfer)
  }
}
