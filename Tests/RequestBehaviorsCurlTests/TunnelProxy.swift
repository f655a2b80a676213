#if canImport(CRequestBehaviorsCurl)
  import Foundation

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
      /// Answers CONNECT with a status; lets through with 200.
      case connect(status: Int)
      /// Closes the connection instead of answering CONNECT.
      case connectClosing
    }

    /// What a client said before its tunnel was made, or refused.
    struct Visit: Sendable {
      var user: String?
      var password: String?
      /// The host and port that were asked for.
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
      func note(_ visit: Visit) { lock.withLock { all.append(visit) } }
    }

    private let server: RawServer
    private let log = Visits()

    init(_ conduct: Conduct) throws {
      server = try RawServer { [log] client in
        var visit = Visit()
        // Noted before the client hears of it.
        switch conduct {
        case .connect, .connectClosing: try TunnelProxy.tunnel(client, conduct, &visit, log.note)
        default: try TunnelProxy.socks(client, conduct, &visit, log.note)
        }
      }
    }

    /// The tunnels that were asked for.
    var visits: [Visit] { log.list }

    func url(_ scheme: String) throws -> URL {
      guard let url = URL(string: "\(scheme)://127.0.0.1:\(server.port)") else { throw URLError(.badURL) }
      return url
    }
  }

  extension TunnelProxy {
    private static func tunnel(
      _ client: Peer, _ conduct: Conduct, _ visit: inout Visit, _ note: (Visit) -> Void
    ) throws {
      visit.head = try client.readHead()
      visit.target = visit.head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
      visit.isName = true
      note(visit)
      guard case .connect(let status) = conduct else { return }
      guard status == 200, let port = visit.target.split(separator: ":").last.flatMap({ UInt16($0) }) else {
        return try client.write("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")
      }
      let server = try Peer(connectingTo: port)
      try client.write("HTTP/1.1 200 OK\r\n\r\n")
      try client.relay(to: server)
    }

    private static func socks(
      _ client: Peer, _ conduct: Conduct, _ visit: inout Visit, _ note: (Visit) -> Void
    ) throws {
      let greeting = try client.read(2)
      let methods = try client.read(Int(greeting[1]))
      switch conduct {
      case .socksClosing: return note(visit)
      case .socksWithPassword(let isRight):
        guard methods.contains(2) else {
          note(visit)
          return try client.write([5, 0xFF])
        }
        try client.write([5, 2])
        _ = try client.read(1)
        visit.user = try text(client)
        visit.password = try text(client)
        if !isRight { note(visit) }
        try client.write([1, isRight ? 0 : 1])
        if !isRight { return }
      default: try client.write([5, 0])
      }
      let port = try readTarget(client, &visit)
      note(visit)
      if case .socksRefusing(let code) = conduct { return try client.write(reply(code)) }
      let server = try Peer(connectingTo: port)
      try client.write(reply(0))
      try client.relay(to: server)
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
