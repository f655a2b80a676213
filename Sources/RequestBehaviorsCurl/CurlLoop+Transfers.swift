#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  import RequestBehaviors

  // The steps of a transfer in the loop. They all run on the loop's thread.
  extension CurlLoop {
    /// Takes a transfer.
    ///
    /// libcurl gets it at once, or as soon as a connection may be free.
    func begin(_ transfer: CurlTransfer) {
      guard !transfer.isSettled else {
        transfer.upload?.cancel()
        return handles.put(transfer.handle)
      }
      transfer.index = transfers.count
      transfers.append(transfer)
      let options = transfer.request.options
      transfer.deadline = TransferDeadline(idle: options.idleTimeout, total: options.timeout, start: now)
      if let deadline = transfer.deadline.deadline { arm(deadline) }
      if transfer.upload?.length == 0 { return readEmptyBody(of: transfer) }
      // A sign-out does not wait until a file was looked up or a stream was made, so the user may have signed out.
      if transfer.upload?.isStream == true, !checkSend(of: transfer) { return end(transfer) }
      enqueue(transfer)
    }

    /// Gives a transfer to libcurl, or to the queue.
    private func enqueue(_ transfer: CurlTransfer) {
      transfer.waitingNumber = queue.add(transfer, to: transfer.request.origin)
      if transfer.waitingNumber == nil { handOver(transfer) }
    }

    /// Reads a stream that was said to be empty to its end before its request is sent.
    ///
    /// libcurl would not ask for any bytes, so surplus ones would go unnoticed.
    private func readEmptyBody(of transfer: CurlTransfer) {
      switch transfer.needsBody(UnsafeMutableRawBufferPointer(start: nil, count: 0)) {
      case .notYet: return
      case .failed(let error): transfer.fail(error)
      case .bytes, .end:
        // The idle time of the request begins now. The user may have signed out meanwhile.
        transfer.touch()
        if checkSend(of: transfer) { return enqueue(transfer) }
      }
      end(transfer)
    }

    /// Fails a transfer that must not be sent any more; returns false if it did.
    func checkSend(of transfer: CurlTransfer) -> Bool {
      do {
        try transfer.request.call.verifySend(of: transfer.request)
        return true
      } catch {
        if let error = error as? NetworkError { transfer.fail(error) } else { transfer.settle(.failed(error)) }
        return false
      }
    }

    /// Gives a transfer to libcurl.
    private func handOver(_ transfer: CurlTransfer) {
      transfer.waitingNumber = nil
      transfer.handle.transfer = transfer
      transfer.isWithLibrary = true
      transfer.started = transfer.request.call.clock.now()
      mayHaveWaiting = true
      add(transfer)
    }

    private func add(_ transfer: CurlTransfer) {
      let code = curl_multi_add_handle(multi, transfer.handle.easy)
      guard code != CURLM_OK else { return }
      transfer.fail(
        NetworkError(.transportFailed, "libcurl could not send: \(String(cString: curl_multi_strerror(code)))"))
      end(transfer)
    }

    /// Makes libcurl restart a transfer of which nothing was sent.
    func restart(_ transfer: CurlTransfer) {
      curl_multi_remove_handle(multi, transfer.handle.easy)
      transfer.hasBegun = false
      mayHaveWaiting = true
      add(transfer)
    }

    /// Removes a transfer from the list; returns false if it is not in it.
    private func unlist(_ transfer: CurlTransfer) -> Bool {
      guard let index = transfer.index, let last = transfers.popLast() else { return false }
      // The last transfer takes the free index, so that a removal costs the same among any number of transfers.
      if last !== transfer {
        transfers[index] = last
        last.index = index
      }
      transfer.index = nil
      transfer.upload?.cancel()
      return true
    }

    /// Removes a transfer from libcurl or from the queue.
    private func remove(_ transfer: CurlTransfer) {
      guard unlist(transfer) else { return }
      let origin = transfer.request.origin
      // A transfer that is still in the queue was never given to libcurl.
      if let number = transfer.waitingNumber {
        transfer.waitingNumber = nil
        return queue.remove(number, of: origin)
      }
      // Neither was a transfer whose empty body is still being read.
      guard transfer.isWithLibrary else { return }
      curl_multi_remove_handle(multi, transfer.handle.easy)
      transfer.tlsEnd?.stop()
      transfer.handle.transfer = nil
      transfer.isWithLibrary = false
      handOverNext(afterOneOf: origin)
    }

    /// Gives the next waiting transfer to libcurl.
    ///
    /// A transfer whose send check fails, such as after a sign-out, ends, and the next one follows.
    private func handOverNext(afterOneOf origin: Origin?) {
      var free = origin
      while let next = queue.release(free), !isClosing {
        if checkSend(of: next) { return handOver(next) }
        next.waitingNumber = nil
        _ = unlist(next)
        handles.put(next.handle)
        free = next.request.origin
      }
    }

    /// Ends the remaining work of a settled transfer.
    func end(_ transfer: CurlTransfer) {
      guard transfer.index != nil else { return }
      if transfer.isResolving {
        // Removing the transfer would block until the resolver is done.
        transfer.isAbandoned = true
        transfer.upload?.cancel()
        return
      }
      // Nothing tells a slow response from a connection that is dead, and further requests would wait on it too.
      if transfer.isSilent { transfer.handle.leaveConnection() } else { transfer.handle.abandon() }
      remove(transfer)
      handles.put(transfer.handle)
    }

    /// Settles the transfers that libcurl has ended, all together at the end of a turn.
    func collect() {
      var result = CURLE_OK
      while let easy = rb_curl_multi_next_ended(multi, &result) {
        guard let transfer = CurlHandle.transfer(of: easy) else { continue }
        if transfer.needsNewConnection, !transfer.isSettled, avoidKeptConnections(transfer) { continue }
        transfer.result = result
        remove(transfer)
        ended.append(transfer)
      }
      for transfer in ended {
        transfer.lastByte = transfer.request.call.clock.now()
        if transfer.settle(.ended) { continue }
        transfer.stream?.end(transfer.endOfStream, trailers: transfer.trailers)
        handles.put(transfer.handle)
      }
      ended.removeAll(keepingCapacity: true)
    }

    /// Restarts a transfer over a new connection.
    ///
    /// Returns false if libcurl refuses the option.
    private func avoidKeptConnections(_ transfer: CurlTransfer) -> Bool {
      guard (try? transfer.handle.avoidKeptConnections()) != nil else { return false }
      transfer.needsNewConnection = false
      restart(transfer)
      return true
    }

    func resume(_ transfer: CurlTransfer) {
      guard transfer.index != nil, !transfer.isAbandoned else { return }
      guard transfer.isWithLibrary else {
        if transfer.waitingNumber == nil { readEmptyBody(of: transfer) }
        return
      }
      if transfer.isReceivingPaused, transfer.stream?.hasRoom() != false {
        transfer.isReceivingPaused = false
        transfer.touch()
        if let deadline = transfer.currentDeadline.deadline { arm(deadline) }
      }
      transfer.isSendingPaused = false
      // The call runs the callbacks at once, and they may pause again.
      let mask = transfer.isReceivingPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT
      curl_easy_pause(transfer.handle.easy, mask)
    }

    /// Makes libcurl look at a transfer in its next turn, though neither its connection nor a timer calls for that.
    func lookAgain(at transfer: CurlTransfer) {
      let mask = transfer.isReceivingPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT
      // libcurl looks only if the call changes something.
      curl_easy_pause(transfer.handle.easy, mask | CURLPAUSE_SEND)
      transfer.isSendingPaused = false
      curl_easy_pause(transfer.handle.easy, mask)
    }

    /// Ends all transfers.
    func endAll() {
      // No waiting transfer may take the place of one that ends.
      isClosing = true
      for transfer in transfers {
        transfer.fail(NetworkError.clientShutDown())
        remove(transfer)
      }
    }
  }
#endif
