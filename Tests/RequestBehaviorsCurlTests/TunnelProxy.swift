#if canImport(CRequestBehaviorsCurl)
  import Foundation
  @testable import RequestBehaviorsTesting

  /// A proxy on 127.0.0.1 that speaks SOCKS5 (RFC 1928, RFC 1929), or makes tunnels for CONNECT (RFC 9110 §9.3.6).
  ///
  /// Whatever host a client names, the tunnel leads to this machine.
  final class TunnelProxy: Sendable {
    enum Conduct: Sendable {
      /// Lets everybody through.
      case socks
      /// Replies with a code other than 0 (RFC 1928 §6).
      case socksRefusing(UInt8)
      /// Demands a user and a password, and says whether they are right.
      case socksWithPassword(isRight: Bool)
      /// Closes the connection in the middle of the handshake.
      case socksClosing
      /// Responds to CONNECT with a status; makes a tunnel with 200.
      case connect(status: Int)
      /// Closes the connection instead of answering CONNECT.
      case connectClosing
      /// Resets the connection as soon as it is made.
      case connectResetting
      /// Does not respond to CONNECT, and waits for the client to close the connection.
      case connectWaiting
      /// Replies to CONNECT with a text, and closes the connection.
      case connectSaying(String)
      /// Replies to CONNECT with a text, and makes the tunnel whatever the text is.
      case connectReplying(String)
      /// Makes a tunnel for this `Proxy-Authorization`, and responds to others with 407, on the same connection.
      case connectDemanding(String)
    }

    /// The bytes of a client before its tunnel was made or refused.
    struct Visit: Sendable {
      var user: String?
      var password: String?
      /// The host and port that were requested.
      var target = ""
      /// Whether the host was a name, for the proxy to resolve.
      var isName = false
      /// The request for a tunnel.
      var head = ""
    }

    private final class Visits: Sendable {
      private let lock = NSLock()
      // Protected by `lock`.
      nonisolated(unsafe) private var all: [Visit] = []

      var list: [Visit] { lock.withLock { all } }
      func note(_ visit: Visit) {
        lock.withLock { all.append(visit) }
        watchers.notify()
      }

      private let watchers = LoopbackWatchers()
      func wait(for count: Int) async { await watchers.wait { [self] in list.count >= count } }

      // Protected by `lock`.
      nonisolated(unsafe) private var bytes: [UInt8] = []
      nonisolated(unsafe) private var isBreaking = false
      nonisolated(unsafe) private var connections = 0

      var heard: [UInt8] { lock.withLock { bytes } }

      /// Notes the bytes that came through a tunnel, and returns whether the tunnel may continue.
      func hear(_ part: [UInt8]) -> Bool {
        lock.withLock {
          bytes += part
          defer { isBreaking = false }
          return !isBreaking
        }
      }

      func breakNext() { lock.withLock { isBreaking = true } }

      func nextConnection() -> Int {
        lock.withLock {
          connections += 1
          return connections
        }
      }
    }

    private let server: RawServer
    private let log = Visits()

    /// Creates a proxy that treats its connections one after the other as told, and further ones as the last.
    init(_ conduct: Conduct, _ further: Conduct...) throws {
      let conducts = [conduct] + further
      server = try RawServer { [log] client in
        var visit = Visit()
        let conduct = conducts[min(log.nextConnection(), conducts.count) - 1]
        // Noted before the client gets the response.
        switch conduct {
        case .socks, .socksRefusing, .socksWithPassword, .socksClosing:
          try TunnelProxy.socks(client, conduct, &visit, log)
        default: try TunnelProxy.tunnel(client, conduct, &visit, log)
        }
      }
    }

    /// The tunnels that were requested.
    var visits: [Visit] { log.list }

    /// The bytes that clients sent through tunnels, as text.
    var heard: String { String(decoding: log.heard, as: UTF8.self) }

    /// Closes the tunnel through which a client sends next, before any of that arrives.
    func breakNextTunnel() { log.breakNext() }

    func waitForVisits(_ count: Int) async { await log.wait(for: count) }

    /// Returns when no connection is open any more, or the task is cancelled.
    func waitForEnd() async { await server.waitForEnd() }

    /// The host and port, as an error names them.
    var name: String { "127.0.0.1:\(server.port)" }

    func url(_ scheme: String) throws -> URL {
      guard let url = URL(string: "\(scheme)://127.0.0.1:\(server.port)") else { throw URLError(.badURL) }
      return url
    }
  }

  extension TunnelProxy {
    private static func tunnel(
      _ client: Peer, _ conduct: Conduct, _ visit: inout Visit, _ log: Visits
    ) throws {
      if case .connectResetting = conduct { return client.reset() }
      while true {
        visit.head = try client.readHead()
        visit.target = visit.head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        visit.isName = true
        log.note(visit)
        switch conduct {
        case .connect(200): return try open(client, visit, "HTTP/1.1 200 OK\r\n\r\n", log)
        case .connect(let status): return try client.write("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")
        case .connectWaiting: return try client.waitForEnd()
        case .connectSaying(let reply): return try client.write(reply)
        case .connectReplying(let reply): return try open(client, visit, reply, log)
        case .connectDemanding(let value) where visit.head.contains("\r\nProxy-Authorization: \(value)\r\n"):
          return try open(client, visit, "HTTP/1.1 200 OK\r\n\r\n", log)
        case .connectDemanding:
          try client.write(
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nno")
        default: return
        }
      }
    }

    private static func open(_ client: Peer, _ visit: Visit, _ reply: String, _ log: Visits) throws {
      guard let port = visit.target.split(separator: ":").last.flatMap({ UInt16($0) }) else { return }
      let server = try Peer(connectingTo: port)
      try client.write(reply)
      try client.relay(to: server) { log.hear($0) }
    }

    private static func socks(
      _ client: Peer, _ conduct: Conduct, _ visit: inout Visit, _ log: Visits
    ) throws {
      let greeting = try client.read(2)
      let methods = try client.read(Int(greeting[1]))
      switch conduct {
      case .socksClosing: return log.note(visit)
      case .socksWithPassword(let isRight):
        guard methods.contains(2) else {
          log.note(visit)
          return try client.write([5, 0xFF])
        }
        try client.write([5, 2])
        _ = try client.read(1)
        visit.user = try text(client)
        visit.password = try text(client)
        if !isRight { log.note(visit) }
        try client.write([1, isRight ? 0 : 1])
        if !isRight { return }
      default: try client.write([5, 0])
      }
      let port = try readTarget(client, &visit)
      log.note(visit)
      if case .socksRefusing(let code) = conduct { return try client.write(reply(code)) }
      let server = try Peer(connectingTo: port)
      try client.write(reply(0))
      try client.relay(to: server) { log.hear($0) }
    }

    /// Reads where the tunnel is to lead, and returns the port.
    private static func readTarget(_ client: Peer, _ visit: inout Visit) throws -> UInt16 {
      let kind = try client.read(4)[3]
      visit.isName = kind == 3
      let host =
        switch kind {
        case 1: try client.read(4).map(String.init).joined(separator: ".")
        case 3: try text(client)
        default: try client.read(16).map { String($0, radix: 16) }.joined(separator: ":")
        }
      let bytes = try client.read(2)
      let port = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
      visit.target = "\(host):\(port)"
      return port
    }

    private static func reply(_ code: UInt8) -> [UInt8] { [5, code, 0, 1, 0, 0, 0, 0, 0, 0] }

    /// Reads a text with its length before it.
    private static func text(_ client: Peer) throws -> String {
      let count = try client.read(1)[0]
      return String(decoding: try client.read(Int(count)), as: UTF8.self)
    }
  }
#endif
