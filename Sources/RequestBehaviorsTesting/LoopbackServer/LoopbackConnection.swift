import Foundation
import RequestBehaviors

/// A connection of the server, on its own thread, which may block.
final class LoopbackConnection: Sendable {
  /// The reason why a connection is no longer served.
  enum End: Error {
    /// The server closes it in an orderly way.
    case close
    /// The server resets it.
    case reset
    /// The client has gone, or the server was stopped.
    case gone
  }

  let index: Int
  private let core: LoopbackCore
  private let lock = NSLock()
  // Written under `lock` and only by the connection's own thread, which therefore reads it without the lock.
  nonisolated(unsafe) private var descriptor: Int32
  // Used by the connection's own thread only.
  nonisolated(unsafe) private var input: LoopbackInput
  // Used by the connection's own thread only.
  nonisolated(unsafe) private var waker: LoopbackWaker?
  // Used by the connection's own thread only.
  nonisolated(unsafe) private var requestIndex = 0
  // Used by the connection's own thread only. Whether the client may still send, or has not sent everything.
  nonisolated(unsafe) private var expectsInput = true

  init(index: Int, descriptor: Int32, core: LoopbackCore) {
    self.index = index
    self.core = core
    self.descriptor = descriptor
    input = LoopbackInput(descriptor)
  }

  /// Ends the connection from any thread; a wait of its own thread ends at once.
  func shutdown() {
    lock.withLock { if descriptor >= 0 { LoopbackSocket.shutdownBoth(descriptor) } }
  }

  /// Serves requests until the connection ends, and closes it.
  func run() {
    do {
      var response = core.responseForAccept()
      // A response with an effect at the accept acts before a request is read.
      if let begun = response {
        try perform(at: .accept, of: begun)
        response?.effects.removeAll { $0.point == .accept }
      }
      while true {
        try serveRequest(with: response)
        response = nil
      }
    } catch let refusal as LoopbackRefusal {
      refuse(refusal)
    } catch End.reset {
      LoopbackSocket.setReset(descriptor)
    } catch End.close {
      linger()
    } catch {}
    lock.withLock {
      LoopbackSocket.close(descriptor)
      descriptor = -1
    }
    core.didClose(self)
  }

  private func serveRequest(with chosen: LoopbackResponse?) throws {
    guard let bytes = try input.takeHead() else { throw End.gone }
    let head = try LoopbackHead(bytes)
    let body = try readBody(head)
    let request = LoopbackRequest(head: head, body: body, connectionIndex: index, requestIndex: requestIndex)
    requestIndex += 1
    expectsInput = false
    core.didReceive(request)
    let response = try chosen ?? core.queuedResponse() ?? answer(request)
    try send(response, to: head)
    expectsInput = true
    guard response.effects.contains(where: { $0.point == .nextRequest }) else { return }
    if input.isEmpty, !input.fill() { throw End.gone }
    try perform(at: .nextRequest, of: response)
  }

  private func readBody(_ head: LoopbackHead) throws -> Data {
    if head.framing == .none { return Data() }
    if case .length(let length) = head.framing, length > core.options.bodyLimit {
      throw LoopbackInput.bodyTooLarge(core.options.bodyLimit)
    }
    // RFC 9110 §10.1.1: 100 Continue is not needed when the body has begun to arrive.
    if head.expectsContinue, head.isHTTP11, core.options.sendsContinue, input.isEmpty {
      try write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
    guard case .length(let length) = head.framing else { return try input.takeChunks(limit: core.options.bodyLimit) }
    var body = Data()
    try input.take(length, into: &body)
    return body
  }

  private func send(_ response: LoopbackResponse, to head: LoopbackHead) throws {
    let wire = LoopbackWire(response, to: head)
    if response.effects.isEmpty, response.throttle == nil {
      try write(wire, 0..<wire.count)
    } else {
      for step in LoopbackPlan(response, wire: wire).steps {
        switch step {
        case .send(let range): try write(wire, range)
        case .perform(let conduct): try perform(conduct)
        }
      }
    }
    if wire.closes { throw End.close }
  }

  private func write(_ wire: LoopbackWire, _ range: Range<Int>) throws {
    guard wire.forEachPiece(in: range, { LoopbackSocket.send(descriptor, $0) }) else { throw End.gone }
  }

  private func write(_ bytes: [UInt8]) throws {
    guard bytes.withUnsafeBytes({ LoopbackSocket.send(descriptor, $0) }) else { throw End.gone }
  }

  private func refuse(_ refusal: LoopbackRefusal) {
    let response = LoopbackResponse.text("LoopbackServer: \(refusal.reason).\n", status: refusal.status)
    let wire = LoopbackWire(response, isHead: false, isHTTP11: true, keepsAlive: false)
    try? write(wire, 0..<wire.count)
    linger()
  }

  /// Ends the sending side, and reads the client's remaining bytes until the client pauses for a minute.
  ///
  /// Closing with unread bytes would send a reset, which can destroy data that the client has not read (RFC 9112 §9.6).
  private func linger() {
    LoopbackSocket.shutdownWriting(descriptor)
    let isPatient = expectsInput || !input.isEmpty
    while LoopbackSocket.poll([(descriptor, true)], milliseconds: isPatient ? 60_000 : 0)[0] {
      input.discard()
      if !input.fill() { return }
    }
  }
}

extension LoopbackConnection {
  private func perform(at point: LoopbackPoint, of response: LoopbackResponse) throws {
    for effect in response.effects where effect.point == point { try perform(effect.conduct) }
  }

  private func perform(_ conduct: LoopbackResponse.Effect.Conduct) throws {
    switch conduct {
    case .fault(.close): throw End.close
    case .fault(.reset): throw End.reset
    case .fault(.stall): try wait { false }
    case .delay(let duration): try wait(for: duration) { false }
    case .hold(let gate):
      let id = gate.arrive(try preparedWaker())
      defer { gate.leave(id) }
      try wait { !gate.holds(id) }
    }
  }

  private func answer(_ request: LoopbackRequest) throws -> LoopbackResponse {
    do {
      switch core.handler {
      case .none: return LoopbackCore.nothingQueued(for: request)
      case .immediate(let handler): return try handler(request)
      case .asynchronous(let handler): return try outcome(of: handler, request).get()
      }
    } catch let end as End {
      throw end
    } catch {
      return .text("LoopbackServer: the handler threw \(error).\n", status: 500)
    }
  }

  private func outcome(
    of handler: @escaping @Sendable (LoopbackRequest) async throws -> LoopbackResponse, _ request: LoopbackRequest
  ) throws -> Result<LoopbackResponse, any Error> {
    let waker = try preparedWaker()
    let outcome = Locked<Result<LoopbackResponse, any Error>?>(nil)
    let task = Task.detached {
      do {
        let response = try await handler(request)
        outcome.withLock { $0 = .success(response) }
      } catch {
        outcome.withLock { $0 = .failure(error) }
      }
      waker.wake()
    }
    do { try wait { outcome.withLock { $0 != nil } } } catch {
      task.cancel()
      throw error
    }
    return outcome.withLock { $0 } ?? .failure(End.gone)
  }

  private func preparedWaker() throws -> LoopbackWaker {
    let waker = try self.waker ?? LoopbackWaker()
    self.waker = waker
    return waker
  }

  /// Waits until the waker signals that the condition holds, or the time is over.
  ///
  /// A client that closes its side of the connection in the meantime counts as gone.
  private func wait(for duration: Duration? = nil, until isDone: () -> Bool) throws {
    let deadline = duration.map { DispatchTime.now().uptimeNanoseconds &+ LoopbackConnection.nanoseconds($0) }
    while !isDone() {
      var milliseconds: Int32 = -1
      if let deadline {
        let now = DispatchTime.now().uptimeNanoseconds
        guard now < deadline else { return }
        milliseconds = Int32(clamping: (deadline - now + 999_999) / 1_000_000)
      }
      var descriptors = [(descriptor, !input.isFull)]
      if let waker { descriptors.append((waker.readEnd, true)) }
      let isReadable = LoopbackSocket.poll(descriptors, milliseconds: milliseconds)
      if isReadable.count > 1, isReadable[1] { waker?.clear() }
      if isReadable[0], !input.fill() { throw End.gone }
    }
  }

  private static func nanoseconds(_ duration: Duration) -> UInt64 {
    guard duration > .zero else { return 0 }
    let (seconds, attoseconds) = duration.components
    return UInt64(min(seconds, 1_000_000_000)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
