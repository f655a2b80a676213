import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension TransferRegistry: URLSessionDataDelegate {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    completionHandler(.allow)
    guard let transfer = transfer(of: dataTask), let response = response as? HTTPURLResponse else { return }
    touch(transfer)
    transfer.response = response
    transfer.firstByte = transfer.request.call.clock.now()
    if transfer.announcesTooMuch(response) { cutOff(transfer) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let transfer = transfer(of: dataTask), !transfer.isSettled else { return }
    touch(transfer)
    if !transfer.append(data) { cutOff(transfer) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let transfer = transfer(of: task) else { return }
    forget(transfer, task)
    guard !transfer.isSettled else { return }
    if let error {
      transfer.fail(TransportFailure(error).networkError)
    } else if let response = transfer.response ?? task.response as? HTTPURLResponse {
      transfer.settleAnswer(response)
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
  /// The handler must not be called once the task is cancelled: on Linux that ends the process. Since both happen on
  /// this queue, a look at the transfer is enough.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    guard let transfer = transfer(of: task), !transfer.isSettled else { return }
    transfer.response = response
    transfer.firstByte = transfer.request.call.clock.now()
    completionHandler(nil)
  }

  #if canImport(FoundationNetworking)
    /// Ends the transfer with the failure that asks for credentials; left alone, the task would never end on Linux.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      if let transfer = transfer(of: task), !transfer.isSettled {
        if let response = challenge.failureResponse as? HTTPURLResponse ?? transfer.response {
          transfer.settleAnswer(response)
        } else {
          transfer.fail(.badResponse, "the server asks for credentials without an answer")
        }
      }
      completionHandler(.cancelAuthenticationChallenge, nil)
    }
  #endif

  #if canImport(FoundationNetworking)
    /// Ends the transfer instead of sending its body again.
    ///
    /// On Linux this is called, on URLSession's own queue, when a kept-alive connection died before the answer began and
    /// some of the body was sent. What was sent is then gone: left alone, URLSession sends the head again without the
    /// body. Whether the server acted on the first is not known, so to send again is for a retry to decide.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
      refuseToSendAgain(task)
      completionHandler(nil)
    }
  #endif

  private func cutOff(_ transfer: Transfer) {
    transfer.failBodyTooLarge()
    abandon(transfer)
  }
}
