#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  import RequestBehaviors

  /// One send, from the caller's continuation to libcurl's result.
  ///
  /// The caller's outcome is settled once, from any thread. All other state belongs to the caller until the transfer is
  /// posted to the loop. The loop owns it from then on. After the outcome `ended`, it belongs to the caller again.
  final class CurlTransfer: @unchecked Sendable {
    // Unchecked because a comment beside each variable names what protects it. Exclusive access to the deadline is
    // not checked, because it changes at each line of a head.

    /// The end of the caller's wait.
    enum Outcome {
      /// libcurl has ended the transfer, with or without success. The transfer and its handle belong to the caller.
      case ended
      /// The head has arrived, and the body follows.
      case head
      /// Something other than libcurl ended the transfer. It belongs to the loop.
      case failed(any Error)
    }

    typealias Continuation = UnsafeContinuation<Outcome, Never>

    let request: NetworkRequest
    let handle: CurlHandle
    let upload: CurlUpload?
    let stream: CurlStream?
    let loop: CurlLoop
    let sent: Duration
    let progress: TransferProgress.Attempt?

    private struct Settlement {
      var continuation: Continuation?
      var outcome: Outcome?
    }

    private let settlement = Locked(Settlement())

    // The type's documentation names the owner of all other state.
    let bodyLimit: Int
    var decoder: ContentDecoder?
    /// The number of bytes of the next part that the decoder took before a pause.
    var decodedCount = 0
    /// The reason why the transfer must not succeed, even if libcurl reports success.
    var objection: NetworkError?
    var result = CURLE_OK
    /// The head of a streamed response.
    ///
    /// The handle has the head of any other.
    var head: [UInt8] = []
    var interimHeads: [[UInt8]] = []
    var connection: ConnectionTimings?
    var started: Duration?
    var firstByte: Duration?
    var lastByte: Duration?
    @exclusivity(unchecked) var deadline: TransferDeadline
    /// The index in the loop's list; `nil` if the loop does not have the transfer.
    var index: Int?
    /// The number under which the transfer waits for a connection; `nil` if it does not wait.
    var waitingNumber: Int?
    /// Whether libcurl has the transfer.
    var isWithLibrary = false
    /// The number of times the request was sent.
    ///
    /// libcurl may send it once.
    var attemptCount = 0
    /// The ports of the connection that the request was sent over.
    var ports: CurlSockets.Ports?
    /// The number of the request's stream of HTTP/2, where requests share connections.
    private var streamNumber: Int?
    /// Whether the server refused the request without processing it, so that libcurl may send it again.
    var wasRefused = false
    /// How the TLS connection ends, if that is the end of the body; `nil` if it does not matter.
    var tlsEnd: CurlTLSEnd?
    /// The sockets that were opened for the transfer.
    var openedSockets: [curl_socket_t] = []
    /// Whether unsolicited data had arrived on the connection that libcurl wanted to reuse.
    var needsNewConnection = false
    /// Whether the attempt used a kept-alive connection.
    var isOverReusedConnection = false
    private var sentCount: Int64 = 0
    var receivedCount: Int64 = 0
    var isReceivingPaused = false
    var isSendingPaused = false
    /// Whether libcurl may miss the end of the response.
    ///
    /// With a response of 300 or above, libcurl 7.88 ends the upload. If that closes the stream of HTTP/2, because the
    /// response has ended too, libcurl waits for the connection, which may be silent.
    private(set) var mayEndUnnoticed = false
    /// Whether the host's name is being resolved by a library that blocks when the transfer is removed.
    var isResolving = false
    /// Whether the transfer has a connection, or one is being made.
    var hasBegun = false
    /// Whether the caller no longer waits.
    ///
    /// The transfer ends when the name is resolved.
    var isAbandoned = false

    init(_ request: NetworkRequest, _ handle: CurlHandle, _ upload: CurlUpload?, _ loop: CurlLoop) {
      self.request = request
      self.handle = handle
      self.upload = upload
      self.loop = loop
      let options = request.options
      stream = options.delivery == .streamed ? CurlStream() : nil
      bodyLimit = options.bodyLimit
      sent = request.call.clock.now()
      progress = options.progress?.begin(sending: upload?.length ?? request.body?.length)
      deadline = TransferDeadline(idle: options.idleTimeout, total: options.timeout, start: .zero)
    }

    /// Whether the caller's outcome is settled.
    var isSettled: Bool { settlement.withLock { $0.outcome != nil } }

    /// Takes the continuation of the caller, and resumes it if the outcome is settled already.
    func attach(_ continuation: Continuation) {
      let early = settlement.withLock { settlement in
        if settlement.outcome == nil { settlement.continuation = continuation }
        return settlement.outcome
      }
      if let early { continuation.resume(returning: early) }
    }

    /// Settles the outcome and resumes the caller.
    ///
    /// Returns false if it was settled before.
    @discardableResult
    func settle(_ outcome: Outcome) -> Bool {
      let (isFirst, waiting) = settlement.withLock { settlement -> (Bool, Continuation?) in
        guard settlement.outcome == nil else { return (false, nil) }
        settlement.outcome = outcome
        defer { settlement.continuation = nil }
        return (true, settlement.continuation)
      }
      waiting?.resume(returning: outcome)
      return isFirst
    }

    /// Shows the thread sanitizer that the loop's work happened before the code that follows.
    ///
    /// The sanitizer misses that order when a continuation is resumed before its task has gone to sleep.
    func synchronize() { settlement.withLock { _ in } }

    /// Ends the caller's wait, or the body if it has begun.
    ///
    /// Only the owner of the transfer calls it.
    func fail(_ error: NetworkError) {
      var error = error
      error.request = request
      error.progress = attemptProgress
      if !settle(.failed(error)) { stream?.end(.failure(error)) }
    }
  }

  // MARK: - On the loop

  extension CurlTransfer {
    /// Records that bytes were sent or received.
    func touch() { deadline.lastActivity = loop.now }

    /// Takes a note of libcurl.
    ///
    /// A server processes no stream after the last one that its GOAWAY names, so the request may be sent again over
    /// another connection, whatever its method (RFC 9113 §6.8, §8.7). libcurl does so, but does not say for which
    /// reason.
    func didNote(_ note: CurlNote) {
      let sockets = handle.share.sockets
      switch note {
      case .stream(let number): streamNumber = number
      case .goAway(let last): sockets.noteLastStream(last, of: ports)
      case .refused: didRefuse()
      case .connectionDied:
        if let streamNumber, let ports, let last = sockets.lastStream(of: ports), streamNumber > last { didRefuse() }
      }
    }

    /// Whether a refused request may be sent again: its body can be read again, and its user has not signed out.
    func maySendAgain() -> Bool { upload?.rewind() != false && loop.checkSend(of: self) }

    /// Records that the server refused the request: the attempt does not count.
    ///
    /// A server that has begun to respond has processed the request, whatever it says afterwards.
    private func didRefuse() {
      guard firstByte == nil else { return }
      wasRefused = true
      (attemptCount, sentCount, isOverReusedConnection) = (0, 0, false)
      (ports, streamNumber) = (nil, nil)
    }

    /// Whether no byte was sent or received for a second, so that the connection may be dead.
    ///
    /// A pause of the reader is no silence.
    var isSilent: Bool { !isReceivingPaused && loop.now - currentDeadline.lastActivity >= .seconds(1) }

    /// The deadline.
    ///
    /// A chunk of the request's stream moves it, and a pause of the reader suspends it.
    var currentDeadline: TransferDeadline {
      var current = deadline
      if isReceivingPaused { current.idle = nil }
      if let chunk = upload?.lastActivity { current.lastActivity = max(current.lastActivity, chunk) }
      return current
    }

    /// Takes a line of the head.
    ///
    /// Returns false if the transfer must end.
    func didReceiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
      touch()
      switch handle.head.add(line) {
      case .more:
        if handle.head.givesLeave { allowBody() }
        return true
      case .refused(let reason):
        objection = NetworkError(.badResponse, "the response is refused: \(reason)")
        return false
      case .isComplete:
        firstByte = request.call.clock.now()
        noteEarlyResponse()
        allowBody()
        interimHeads = handle.head.interimHeads
        if handle.head.endsWithConnection(isHead: request.method == .head) { tlsEnd = handle.watchTLSEnd() }
        // RFC 9110 §15.5.20: the request may succeed over another connection, so a repeat must not use this one.
        if handle.head.status == 421 { handle.leaveConnection() }
        guard chooseDecoder() else { return false }
        // A small body was sent with the head of the request.
        if upload == nil, let length = request.body?.length { progress?.sent(length) }
        guard stream != nil else { return true }
        head = handle.head.head
        connection = handle.connectionTimings(queued: queued)
        // Only an acceptable response may take as long as it likes; the time limit still covers the body of an error.
        if request.options.timesEndAtHead, request.call.acceptableStatuses.contains(handle.head.status) {
          deadline.total = nil
        }
        settle(.head)
        return true
      }
    }

    /// Allows the request's body to be sent if it waits for the server's permission.
    ///
    /// libcurl does not end a transfer whose sending is paused, even if the response has come and needs no more of the
    /// body.
    private func allowBody() {
      guard let upload else { return }
      upload.allow()
      if isSendingPaused { loop.post(.resume(self)) }
    }

    /// Records that the response may have come before all of the request's body was sent.
    private func noteEarlyResponse() {
      guard !CurlLibrary.canMultiplex, handle.head.status >= 300, handle.head.isOfHTTP2, let body = request.body,
        body.length != 0
      else { return }
      mayEndUnnoticed = true
      loop.mayHaveMissedEnds = true
    }

    /// Makes a decoder for the body, unless the request names encodings itself.
    ///
    /// Returns false if the encoding is not supported.
    private func chooseDecoder() -> Bool {
      let encoding = handle.head.framing.encoding
      guard handle.settings.decodes == true, !ContentDecoder.isIdentity(encoding) else { return true }
      decoder = ContentDecoder(encoding)
      if decoder == nil {
        objection = NetworkError(
          .badResponse, "the response has the Content-Encoding \(encoding.prefix(64)), which was not asked for")
      }
      return decoder != nil
    }

    /// How long the transfer waited for the loop.
    var queued: Duration? { started.map { $0 - sent } }

    /// Copies bytes of the request's body to libcurl's buffer.
    func needsBody(_ buffer: UnsafeMutableRawBufferPointer) -> CurlUpload.Reading {
      guard let upload else { return .end }
      let reading = upload.read(into: buffer)
      switch reading {
      case .bytes(let count):
        touch()
        sentCount += Int64(count)
        progress?.sent(sentCount)
      case .notYet: isSendingPaused = true
      case .failed(let error): objection = error
      case .end: break
      }
      return reading
    }
  }
#endif
