#if !os(Windows) && !os(WASI)
  import Foundation
  import RequestBehaviors

  /// Serves the redirect URI of this machine on a thread of its own.
  final class LoopbackListener: Sendable {
    private struct Connection {
      let descriptor: Int32
      let deadline: Duration
      var octets: [UInt8] = []
      var hasResponse = false
    }

    private struct State {
      var waiters: [String: Waiter<URL>] = [:]
      /// The callbacks that came before a sign-in waited for them, the newest last.
      var early: [(state: String, callback: URL)] = []
      /// The states of sign-ins whose callback has come, which get the same page again.
      var finished: [String] = []
      var isStopped = false

      mutating func finish(_ signIn: String) { finished = finished.suffix(15) + [signIn] }
    }

    let url: URL
    private let page: String
    private let clock: RequestClock
    private let listener: Int32
    private let waker: (read: Int32, write: Int32)
    private let state = Locked(State())

    /// The most connections at a time; browsers open spare ones.
    private static let connectionLimit = 32
    /// The time for which a connection may be open.
    private static let connectionTime = Duration.seconds(10)
    /// The most callbacks that are kept for sign-ins to come.
    private static let earlyLimit = 16

    init(port: UInt16, path: String, page: String, clock: RequestClock) throws {
      guard path.hasPrefix("/"), URL(string: "http://127.0.0.1:1\(path)") != nil else {
        throw NetworkError.invalidServer("the path of the redirect URI must begin with a slash: \(path)")
      }
      guard !path.contains("?"), !path.contains("#") else {
        throw NetworkError.invalidServer("the path of the redirect URI must have neither query nor fragment: \(path)")
      }
      guard page.utf8.count <= LoopbackSystem.sendLimit else {
        throw NetworkError.invalidServer(
          "the page has \(page.utf8.count) octets, and may have \(LoopbackSystem.sendLimit); use links for the rest")
      }
      let place = try LoopbackSystem.listen(port: port)
      listener = place.descriptor
      do { waker = try LoopbackSystem.pipe() } catch {
        LoopbackSystem.close(place.descriptor)
        throw error
      }
      guard let url = URL(string: "http://\(place.host):\(place.port)\(path)") else {
        for descriptor in [listener, waker.read, waker.write] { LoopbackSystem.close(descriptor) }
        throw NetworkError.invalidServer("the path of the redirect URI is not a path of a URL: \(path)")
      }
      (self.url, self.page, self.clock) = (url, page, clock)
      let thread = Thread { [self] in serve() }
      thread.name = "LoopbackRedirect"
      thread.stackSize = 512 * 1_024
      thread.start()
    }

    /// Waits for the callback with a state, which may have come already; an earlier waiter for it is cancelled.
    func wait(for signIn: String, _ waiter: Waiter<URL>) {
      let (callback, replaced) = state.withLock { state -> (URL?, Waiter<URL>?) in
        if let index = state.early.firstIndex(where: { areEqualInConstantTime($0.state, signIn) }) {
          state.finish(signIn)
          return (state.early.remove(at: index).callback, nil)
        }
        return (nil, state.waiters.updateValue(waiter, forKey: signIn))
      }
      if let callback { waiter.settle(.success(callback)) }
      replaced?.settle(.failure(CancellationError()))
    }

    /// Forgets a waiter whose sign-in ended without a callback, and no other waiter for the same.
    func forget(_ signIn: String, _ waiter: Waiter<URL>) {
      state.withLock { if $0.waiters[signIn] === waiter { $0.waiters[signIn] = nil } }
    }

    /// Ends the thread, which closes everything.
    func stop() {
      state.withLock { state in
        guard !state.isStopped else { return }
        state.isStopped = true
        // Within the lock: the thread closes the pipe once it has read the flag, and then the number may be another's.
        LoopbackSystem.wake(waker.write)
      }
    }

    private func serve() {
      var connections: [Connection] = []
      // No connection is accepted for a while when the system has no descriptor for it.
      var isPaused = false
      while !state.withLock({ $0.isStopped }) {
        let descriptors = [waker.read] + connections.map(\.descriptor) + (isPaused ? [] : [listener])
        let isReady = LoopbackSystem.poll(
          descriptors, milliseconds: connections.isEmpty && !isPaused ? -1 : 250)
        for index in connections.indices where isReady[index + 1] { advance(&connections[index]) }
        connections.removeAll { connection in
          guard connection.deadline <= clock.now() else { return false }
          LoopbackSystem.close(connection.descriptor)
          return true
        }
        let hasNewConnection = !isPaused && isReady.last == true
        isPaused = hasNewConnection && !accept(&connections)
      }
      for descriptor in connections.map(\.descriptor) + [listener, waker.read, waker.write] {
        LoopbackSystem.close(descriptor)
      }
    }

    /// Accepts a connection; returns false if the system has no descriptor for it.
    ///
    /// Idle connections of other programs must not keep the browser's out, so the oldest gives way.
    private func accept(_ connections: inout [Connection]) -> Bool {
      if connections.count >= LoopbackListener.connectionLimit {
        LoopbackSystem.close(connections.removeFirst().descriptor)
      }
      switch LoopbackSystem.accept(listener) {
      case .none: return true
      case .exhausted where connections.isEmpty: return false
      case .exhausted:
        LoopbackSystem.close(connections.removeFirst().descriptor)
        return true
      case .connection(let descriptor):
        connections.append(
          Connection(descriptor: descriptor, deadline: clock.now() + LoopbackListener.connectionTime))
        return true
      }
    }

    /// Reads what has come; sends a response once the head is complete.
    private func advance(_ connection: inout Connection) {
      guard let octets = LoopbackSystem.receive(connection.descriptor) else { return }
      if octets.isEmpty {
        // The connection is closed with the others that are over.
        connection = Connection(descriptor: connection.descriptor, deadline: clock.now())
        return
      }
      // What follows the head is read and dropped, so that closing does not reset the connection.
      guard !connection.hasResponse else { return }
      connection.octets += octets
      let reading = LoopbackExchange.read(connection.octets)
      guard reading != .incomplete else { return }
      connection.hasResponse = true
      connection.octets = []
      let (decision, waiter) = decide(on: reading)
      // The page comes first: a program that has the callback may end at once.
      LoopbackSystem.send(connection.descriptor, LoopbackExchange.response(decision, page: page))
      if let callback = decision.callback { waiter?.settle(.success(callback)) }
    }

    /// Decides on a request; returns the sign-in that waits for its callback, or keeps the callback.
    private func decide(
      on reading: LoopbackExchange.Reading
    ) -> (decision: LoopbackExchange.Decision, waiter: Waiter<URL>?) {
      guard case .head(let head) = reading else { return (LoopbackExchange.Decision(status: 400), nil) }
      return state.withLock { state in
        let decision = LoopbackExchange.decide(
          head, at: url, states: Array(state.waiters.keys) + state.finished)
        guard let callback = decision.callback, let signIn = decision.state else { return (decision, nil) }
        if decision.status == 202, !state.early.contains(where: { $0.state == signIn }) {
          state.early = state.early.suffix(LoopbackListener.earlyLimit - 1) + [(signIn, callback)]
        }
        let waiter = state.waiters.removeValue(forKey: signIn)
        if waiter != nil { state.finish(signIn) }
        return (decision, waiter)
      }
    }
  }
#endif
