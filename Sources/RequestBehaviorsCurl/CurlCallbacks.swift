#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation

  // The functions that libcurl calls on the loop's thread. They must not call functions of libcurl that act on
  // transfers.

  private func transfer(of context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    context.flatMap { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue().transfer }
  }

  func curlDidReceiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
  ) -> Int {
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    guard let transfer = transfer(of: context) else { return 0 }
    if transfer.didReceiveHeader(line) { return line.count }
    transfer.handle.abandon()
    return 0
  }

  func curlDidReceiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
  ) -> Int {
    let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
    let transfer = transfer(of: context)
    switch transfer?.didReceiveBody(part) {
    case .taken: return part.count
    case .later: return Int(CURL_WRITEFUNC_PAUSE)
    case .refused, nil:
      transfer?.handle.abandon()
      // Any other number than the number of bytes ends the transfer. For an empty part that is 1.
      return part.isEmpty ? 1 : 0
    }
  }

  func curlNeedsBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
  ) -> Int {
    let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
    let transfer = transfer(of: context)
    switch transfer?.needsBody(buffer) {
    case .bytes(let count): return count
    case .end: return 0
    case .notYet: return Int(CURL_READFUNC_PAUSE)
    case .failed, nil:
      transfer?.handle.abandon()
      return Int(CURL_READFUNC_ABORT)
    }
  }

  /// Prevents a second send: libcurl would restart when a kept-alive connection dies before the response begins.
  ///
  /// Only a request that the server refused may be sent again.
  func curlNeedsRewind(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard let transfer = transfer(of: context), transfer.wasRefused, transfer.upload?.rewind() != false else {
      return CURL_SEEKFUNC_FAIL
    }
    return CURL_SEEKFUNC_OK
  }

  /// Called with each note of libcurl about a transfer, where requests share connections.
  func curlNotes(
    _ easy: UnsafeMutableRawPointer?, _ kind: curl_infotype, _ text: UnsafeMutablePointer<CChar>?, _ count: Int,
    _ context: UnsafeMutableRawPointer?
  ) -> Int32 {
    guard kind == CURLINFO_TEXT else { return 0 }
    if let note = CurlNote(UnsafeRawBufferPointer(start: text, count: count)) {
      transfer(of: context)?.didNote(note)
    }
    return 0
  }

  /// Called before a request is sent over a connection.
  ///
  /// It refuses a second send, and a connection on which unsolicited data has arrived.
  func curlWillSend(
    _ context: UnsafeMutableRawPointer?, _ remoteAddress: UnsafeMutablePointer<CChar>?,
    _ localAddress: UnsafeMutablePointer<CChar>?, _ remotePort: Int32, _ localPort: Int32
  ) -> Int32 {
    guard let transfer = transfer(of: context) else { return CURL_PREREQFUNC_ABORT }
    let handle = transfer.handle
    transfer.touch()
    transfer.hasBegun = true
    // The first send may have reached the server, so only a retry behavior may decide on another one.
    guard transfer.attemptCount == 0 else { return CURL_PREREQFUNC_ABORT }
    // libcurl does not tell the socket of a reused connection here; its ports lead to it.
    let ports = CurlSockets.Ports(local: localPort, remote: remotePort)
    if handle.isOverReusedConnection {
      guard handle.mayReuse(ports) else {
        transfer.needsNewConnection = true
        // Over HTTP/2, libcurl would keep it, and offer it to the next request too.
        handle.leaveConnection()
        return CURL_PREREQFUNC_ABORT
      }
      transfer.isOverReusedConnection = true
    } else {
      handle.share.sockets.note(transfer.openedSockets, ports)
    }
    guard !transfer.wasRefused || transfer.maySendAgain() else { return CURL_PREREQFUNC_ABORT }
    transfer.attemptCount = 1
    transfer.ports = ports
    transfer.upload?.connectionIsReady()
    return CURL_PREREQFUNC_OK
  }

  func curlClosesSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    if let context { Unmanaged<CurlSockets>.fromOpaque(context).takeUnretainedValue().forget(descriptor) }
    return close(descriptor)
  }

  func curlWillResolve(
    _ resolver: UnsafeMutableRawPointer?, _ reserved: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
  ) -> Int32 {
    guard let transfer = transfer(of: context) else { return 0 }
    transfer.hasBegun = true
    if !transfer.handle.settings.leavesResolverBehind { transfer.isResolving = true }
    return 0
  }

  func curlNeedsSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
  ) -> curl_socket_t {
    guard let transfer = transfer(of: context), let address, !transfer.isAbandoned else { return -1 }
    transfer.isResolving = false
    transfer.hasBegun = true
    let descriptor = rb_curl_open_socket(address)
    if descriptor >= 0 { transfer.openedSockets.append(descriptor) }
    return descriptor
  }
#endif
