import Foundation
import RequestBehaviors

/// The state that the server's threads share.
///
/// It outlives the ``LoopbackServer`` until the last thread has ended.
final class LoopbackCore: Sendable {
  enum Handler: Sendable {
    case none
    case immediate(@Sendable (LoopbackRequest) throws -> LoopbackResponse)
    case asynchronous(@Sendable (LoopbackRequest) async throws -> LoopbackResponse)
  }

  private struct State {
    var isStopped = false
    var hasListenerEnded = false
    var connections: [Int: LoopbackConnection] = [:]
    var connectionCount = 0
    var requestCount = 0
    var requests: [LoopbackRequest] = []
    var queue: [LoopbackResponse] = []
    var queueStart = 0
    /// The socket that reserves the port after the server has stopped listening.
    var reservation: Int32?
  }

  let options: LoopbackServer.Options
  let handler: Handler
  let port: UInt16
  private let listener: Int32
  private let waker: LoopbackWaker
  private let condition = NSCondition()
  // Protected by `condition`.
  nonisolated(unsafe) private var state = State()
  private let watchers = LoopbackWatchers()

  init(options: LoopbackServer.Options, handler: Handler) throws {
    self.options = options
    self.handler = handler
    waker = try LoopbackWaker()
    (listener, self.port) = try LoopbackSocket.listen(port: options.port)
    LoopbackCore.startThread("LoopbackServer") { [self] in acceptConnections() }
  }

  deinit {
    if let reservation = state.reservation { LoopbackSocket.close(reservation) }
  }

  private static func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.stackSize = 1_024 * 1_024
    thread.start()
  }

  private func withState<Value>(_ body: (inout State) -> Value) -> Value {
    condition.lock()
    defer { condition.unlock() }
    return body(&state)
  }

  // MARK: Accepting

  private func acceptConnections() {
    while !withState({ $0.isStopped }) {
      let isReadable = LoopbackSocket.poll([(listener, true), (waker.readEnd, true)], milliseconds: -1)
      guard isReadable[0], !isReadable[1] else { continue }
      accept()
    }
    LoopbackSocket.close(listener)
    withState {
      $0.reservation = LoopbackSocket.reserve(port)
      $0.hasListenerEnded = true
      condition.broadcast()
    }
  }

  private func accept() {
    while let descriptor = LoopbackSocket.accept(listener) {
      guard descriptor >= 0 else {
        // The system is out of descriptors. The backlog keeps the connection until others have been closed.
        _ = LoopbackSocket.poll([(waker.readEnd, true)], milliseconds: 5)
        return
      }
      let connection = withState { state in
        let connection = LoopbackConnection(index: state.connectionCount, descriptor: descriptor, core: self)
        state.connections[connection.index] = connection
        state.connectionCount += 1
        return connection
      }
      LoopbackCore.startThread("LoopbackServer connection") { connection.run() }
    }
  }

  /// Closes everything.
  ///
  /// When it returns, the server no longer listens.
  func stop() {
    let isFirst = withState { state in
      defer { state.isStopped = true }
      return !state.isStopped
    }
    if isFirst { waker.wake() }
    condition.lock()
    // The accepting thread never runs a caller's code, so this wait takes microseconds.
    while !state.hasListenerEnded { condition.wait() }
    let connections = Array(state.connections.values)
    condition.unlock()
    guard isFirst else { return }
    for connection in connections { connection.shutdown() }
    watchers.notify()
  }

  // MARK: For connections

  func didClose(_ connection: LoopbackConnection) {
    withState { $0.connections[connection.index] = nil }
    watchers.notify()
  }

  func didReceive(_ request: LoopbackRequest) {
    withState { state in
      state.requestCount += 1
      if options.recordsRequests { state.requests.append(request) }
    }
    watchers.notify()
  }

  /// Takes the next response of the queue.
  func queuedResponse() -> LoopbackResponse? { takeQueued { _ in true } }

  /// Takes the next response of the queue if it has an effect when a connection is accepted.
  func responseForAccept() -> LoopbackResponse? {
    takeQueued { $0.effects.contains { $0.point == .accept } }
  }

  private func takeQueued(where isWanted: (LoopbackResponse) -> Bool) -> LoopbackResponse? {
    withState { state in
      guard state.queueStart < state.queue.count, isWanted(state.queue[state.queueStart]) else { return nil }
      defer {
        state.queueStart += 1
        if state.queueStart == state.queue.count { (state.queue, state.queueStart) = ([], 0) }
      }
      return state.queue[state.queueStart]
    }
  }

  static func nothingQueued(for request: LoopbackRequest) -> LoopbackResponse {
    .text(
      "LoopbackServer: no response is left in the queue for \(request.method) \(request.target), and there is no "
        + "handler. Call enqueue(_:) once for each request that is expected.\n", status: 404)
  }

  // MARK: For tests

  func enqueue(_ responses: [LoopbackResponse]) { withState { $0.queue += responses } }

  var queuedCount: Int { withState { $0.queue.count - $0.queueStart } }
  var requests: [LoopbackRequest] { withState { $0.requests } }
  var requestCount: Int { withState { $0.requestCount } }
  var connectionCount: Int { withState { $0.connectionCount } }
  var openConnectionCount: Int { withState { $0.connections.count } }

  func wait(forRequests count: Int) async {
    await watchers.wait { [self] in withState { $0.isStopped || $0.requestCount >= count } }
  }

  func wait(forOpenConnections count: Int) async {
    await watchers.wait { [self] in openConnectionCount <= count }
  }
}
