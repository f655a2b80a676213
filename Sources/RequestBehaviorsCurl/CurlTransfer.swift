#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  import RequestBehaviors

  /// One send: from the caller's continuation to libcurl's last word.
  ///
  /// The caller's outcome is settled once, from any thread. Everything else belongs to the caller until the transfer is
  /// posted, to the loop from then on, and, when the outcome says that it has ended, to the caller again.
  final class CurlTransfer: @unchecked Sendable {
    // Unchecked because each variable is protected by what is said beside it.

    /// How the caller's wait ends.
    enum Outcome {
      /// libcurl has ended the transfer, well or not; it and its handle are the caller's.
      case ended
      /// The head is there, and the body follows.
      case head
      /// The transfer was ended by somebody else; it is the loop's.
      case failed(any Error)
    }

    typealias Continuation = UnsafeContinuation<Outcome, Never>

    let request: NetworkRequest
    let handle: CurlHandle
    let upload: CurlUpload?
    let stream: CurlStream?
    let loop: CurlLoop
    let sent: Duration
    private let progress: TransferProgress.Attempt?

    private let lock = NSLock()
    // Both protected by `lock`.
    private var continuation: Continuation?
    private var outcome: Outcome?

    // The rest as the type says.
    let bodyLimit: Int
    private var decoder: ContentDecoder?
    /// How many bytes of what comes next the decoder has taken already, before a pause.
    private var decodedCount = 0
    /// Why the transfer must not succeed, whatever libcurl says.
    var objection: NetworkError?
    var result = CURLE_OK
    /// The head of a response whose body follows; that of others is with the handle.
    var head: [UInt8] = []
    var interimHeads: [[UInt8]] = []
    var connection: ConnectionTimings?
    var started: Duration?
    var firstByte: Duration?
    var lastByte: Duration?
    var deadline: TransferDeadline
    /// Where the loop has it; `nil` if it has not.
    var index: Int?
    /// The number under which it waits for a connection; `nil` if it does not.
    var waitingNumber: Int?
    /// Whether libcurl has it.
    var isWithLibrary = false
    /// How often the request went out; libcurl may send it once.
    var attemptCount = 0
    /// How its connection ends over TLS, where that is the end of the body; `nil` where it does not matter.
    var tlsEnd: CurlTLSEnd?
    /// The sockets that were made for it.
    var openedSockets: [curl_socket_t] = []
    /// Whether something unasked had come over the connection that libcurl wanted to use.
    var needsNewConnection = false
    /// Whether the connection of the first attempt had been used before.
    var isOverReusedConnection = false
    private var sentCount: Int64 = 0
    private var receivedCount: Int64 = 0
    var isReceivingPaused = false
    var isSendingPaused = false
    /// Whether the host's name is being resolved, by libraries that wait for it when a transfer is removed.
    var isResolving = false
    /// Whether there is a connection for it, or one is being made.
    var hasBegun = false
    /// Whether nobody waits any more; it ends when the name is resolved.
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
    var isSettled: Bool { lock.withLock { outcome != nil } }

    /// Takes the continuation of the caller, and resumes it if the outcome is settled already.
    func attach(_ continuation: Continuation) {
      let early = lock.withLock {
        if outcome == nil { self.continuation = continuation }
        return outcome
      }
      if let early { continuation.resume(returning: early) }
    }

    /// Settles the outcome and resumes the caller; returns false if it was settled before.
    @discardableResult
    func settle(_ outcome: Outcome) -> Bool {
      let (isFirst, waiting) = lock.withLock { () -> (Bool, Continuation?) in
        guard self.outcome == nil else { return (false, nil) }
        self.outcome = outcome
        defer { continuation = nil }
        return (true, continuation)
      }
      waiting?.resume(returning: outcome)
      return isFirst
    }

    /// Lets the thread sanitizer see that what the loop did came before what follows.
    ///
    /// It misses that when a continuation is resumed before its task has gone to sleep.
    func synchronize() { lock.withLock {} }

    /// Ends the caller's wait, or the body if that has begun; called by whom the transfer belongs to.
    func fail(_ error: NetworkError) {
      var error = error
      error.request = request
      error.progress = attemptProgress
      if !settle(.failed(error)) { stream?.end(.failure(error)) }
    }
  }

  // MARK: - On the loop

  extension CurlTransfer {
    /// Notes that bytes went one way or the other.
    func touch() { deadline.lastActivity = loop.now }

    /// The deadline, which a stream's chunk moves and a reader's pause suspends.
    var currentDeadline: TransferDeadline {
      var current = deadline
      if isReceivingPaused { current.idle = nil }
      if let chunk = upload?.lastActivity { current.lastActivity = max(current.lastActivity, chunk) }
      return current
    }

    /// Takes a line of the head; returns false if the transfer must end.
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
        allowBody()
        interimHeads = handle.head.interimHeads
        if handle.head.endsWithConnection(isHead: request.method == .head) { tlsEnd = handle.watchTLSEnd() }
        guard chooseDecoder() else { return false }
        // What few bytes the body had went out with the head of the request.
        if upload == nil, let length = request.body?.length { progress?.sent(length) }
        guard stream != nil else { return true }
        head = handle.head.head
        connection = handle.connectionTimings(queued: queued)
        // An error that takes its time is none to wait for.
        if request.options.timesEndAtHead, request.call.acceptableStatuses.contains(handle.head.status) {
          deadline.total = nil
        }
        settle(.head)
        return true
      }
    }

    /// Lets the request's body go out that waits for the server's leave.
    ///
    /// libcurl ends no transfer whose sending is paused, even if a response came that wants no more of the body.
    private func allowBody() {
      guard let upload else { return }
      upload.allow()
      if isSendingPaused { loop.post(.resume(self)) }
    }

    /// Makes a decoder for the body, unless the request names encodings itself; returns false if there is none.
    private func chooseDecoder() -> Bool {
      let encoding = handle.head.framing.encoding
      guard handle.settings.decodes == true, !ContentDecoder.isIdentity(encoding) else { return true }
      decoder = ContentDecoder(encoding)
      if decoder == nil {
        objection = NetworkError(
          .badResponse, "the response has the Content-Encoding \(encoding), which was not asked for")
      }
      return decoder != nil
    }

    /// Tells the progress of bytes of the body, as the caller gets them.
    private func noteReceived(_ count: Int) {
      guard let progress else { return }
      receivedCount += Int64(count)
      // The length that the server tells is that of the compressed body.
      let length = decoder == nil ? handle.size(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) : nil
      progress.received(receivedCount, of: length.flatMap { $0 >= 0 ? Int64($0) : nil })
    }

    /// How long the transfer waited for the loop.
    var queued: Duration? { started.map { $0 - sent } }

    /// What is done with a part of the body.
    enum Taking { case taken, refused, later }

    func didReceiveBody(_ bytes: UnsafeRawBufferPointer) -> Taking {
      touch()
      guard !bytes.isEmpty else { return .taken }
      guard let decoder else { return take(bytes) }
      // What a pause left untaken comes again from its beginning.
      var rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(decodedCount))
      decodedCount = max(decodedCount - bytes.count, 0)
      return withUnsafeTemporaryAllocation(byteCount: 32 * 1_024, alignment: 16) { buffer in
        while true {
          if let stream, !stream.hasRoom(orPauses: true) {
            decodedCount += bytes.count - rest.count
            isReceivingPaused = true
            return .later
          }
          var count = 0
          let step = decoder.decode(&rest, into: buffer, count: &count)
          if count > 0, take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) == .refused { return .refused }
          switch step {
          case .broken:
            objection = NetworkError(.badResponse, "the response's body is not what its Content-Encoding says")
            return .refused
          case .needsMore where rest.isEmpty: return .taken
          case .needsMore, .produced: continue
          }
        }
      }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
      if let stream {
        isReceivingPaused = !stream.push(bytes)
        if !isReceivingPaused { noteReceived(bytes.count) }
        return isReceivingPaused ? .later : .taken
      }
      guard bytes.count <= bodyLimit - handle.body.count else {
        objection = NetworkError.bodyTooLarge(limit: bodyLimit)
        return .refused
      }
      handle.body.add(bytes, of: handle.size(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T).map { min($0, bodyLimit) })
      noteReceived(bytes.count)
      return .taken
    }

    /// Why a body that libcurl takes for whole is not; `nil` if it is.
    var missing: NetworkError? {
      let (head, isHead) = (handle.head, request.method == .head)
      let hasOtherEnd = !head.endsWithConnection(isHead: isHead)
      if tlsEnd?.isProper == false {
        return NetworkError(
          .truncatedBody,
          "the body ends with its connection, which ended without a closure alert (RFC 9112 §9.8); set the transport's "
            + "requiresTLSClosure to false if the server never sends one")
      }
      if decoder?.isWhole(mayBeNone: hasOtherEnd) == false {
        return NetworkError(.truncatedBody, "the compressed data of the response's body ended before its end")
      }
      guard case .length(let length)? = head.expectedEnd(isHead: isHead),
        let count = handle.size(CURLINFO_SIZE_DOWNLOAD_T), count != length
      else { return nil }
      return NetworkError(.truncatedBody, "the body ended after \(count) of \(length) bytes")
    }

    /// Copies bytes of the request's body; `nil` if the transfer must end.
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
