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
      /// The states of sign-ins whose callback has come, which get the same page again.
      var finished: [String] = []
      var isStopped = false
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

    init(port: UInt16, path: String, page: String, clock: RequestClock) throws {
      let place = try LoopbackSystem.listen(port: port)
      listener = place.descriptor
      do {
        waker = try LoopbackSystem.pipe()
        guard path.hasPrefix("/"), let url = URL(string: "http://\(place.host):\(place.port)\(path)") else {
          throw NetworkError.invalidServer("the path of the redirect URI must begin with a slash: \(path)")
        }
        self.url = url
      } catch {
        LoopbackSystem.close(place.descriptor)
        throw error
      }
      (self.page, self.clock) = (page, clock)
      let thread = Thread { [self] in serve() }
      thread.name = "LoopbackRedirect"
      thread.stackSize = 512 * 1_024
      thread.start()
    }

    /// Waits for the callback with a state.
    func wait(for signIn: String, _ waiter: Waiter<URL>) { state.withLock { $0.waiters[signIn] = waiter } }

    /// Forgets a sign-in that ended without a callback.
    func forget(_ signIn: String) { state.withLock { _ = $0.waiters.removeValue(forKey: signIn) } }

    /// Ends the thread, which closes everything.
    func stop() {
      state.withLock { $0.isStopped = true }
      LoopbackSystem.wake(waker.write)
    }

    private func serve() {
      var connections: [Connection] = []
      while !state.withLock({ $0.isStopped }) {
        let isFull = connections.count >= LoopbackListener.connectionLimit
        let descriptors = [waker.read] + connections.map(\.descriptor) + (isFull ? [] : [listener])
        let isReady = LoopbackSystem.poll(descriptors, milliseconds: connections.isEmpty ? -1 : 250)
        for index in connections.indices where isReady[index + 1] { advance(&connections[index]) }
        connections.removeAll { connection in
          guard connection.deadline <= clock.now() else { return false }
          LoopbackSystem.close(connection.descriptor)
          return true
        }
        if !isFull, isReady.last == true, let descriptor = LoopbackSystem.accept(listener) {
          connections.append(
            Connection(descriptor: descriptor, deadline: clock.now() + LoopbackListener.connectionTime))
        }
      }
      for descriptor in connections.map(\.descriptor) + [listener, waker.read, waker.write] {
        LoopbackSystem.close(descriptor)
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
      LoopbackSystem.send(connection.descriptor, LoopbackExchange.response(status(for: reading), page: page))
    }

    /// Decides on a request, and hands the callback to the sign-in that waits for it.
    private func status(for reading: LoopbackExchange.Reading) -> Int {
      guard case .head(let head) = reading else { return 400 }
      let states = state.withLock { Array($0.waiters.keys) + $0.finished }
      let decision = LoopbackExchange.decide(head, at: url, states: states)
      if let callback = decision.callback, let signIn = decision.state {
        let waiter = state.withLock { state -> Waiter<URL>? in
          guard let waiter = state.waiters.removeValue(forKey: signIn) else { return nil }
          state.finished = state.finished.suffix(15) + [signIn]
          return waiter
        }
        waiter?.settle(.success(callback))
      }
      return decision.status
    }
  }
#endif
