#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import Testing

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Connections to a socket of the file system, such as that of a container engine.
  @Suite(.limited) struct CurlUnixSocketTests {
    private func transport(_ path: String, _ proxy: CurlTransport.Proxy = .none) -> CurlTransport {
      var settings = CurlTransport.Configuration()
      settings.unixSocketPath = path
      settings.proxy = proxy
      return .curl(settings)
    }

    @Test func `requests go to the socket, whatever host the URL names`() async throws {
      let listener = try UnixListener { peer in
        let head = try peer.readHead()
        try peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(head.utf8.count)\r\nConnection: close\r\n\r\n\(head)")
      }
      defer { listener.close() }
      let transport = transport(listener.path, try .url(#require(URL(string: "http://127.0.0.1:1"))))
      let baseURL = try #require(URL(string: "http://engine.test/v1.44"))
      let client = NetworkClient(baseURL: baseURL, transport: transport)
      for _ in 0..<2 {
        let text: String = try await client.send(.get("containers/json"))
        #expect(text.hasPrefix("GET /v1.44/containers/json HTTP/1.1\r\nHost: engine.test\r\n"))
      }
    }

    @Test func `requests one after another share a connection`() async throws {
      let listener = try UnixListener { peer in while true { try UnixListener.respond(to: peer) } }
      defer { listener.close() }
      let transport = transport(listener.path)
      for path in ["a", "b", "c"] {
        let request = NetworkRequest(url: try #require(URL(string: "http://localhost/\(path)")))
        #expect(try await transport.send(request).text == "/\(path)")
      }
      #expect(listener.connectionCount == 1)
    }

    @Test func `requests at the same time get their own responses`() async throws {
      let listener = try UnixListener { peer in while true { try UnixListener.respond(to: peer) } }
      defer { listener.close() }
      let transport = transport(listener.path)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for lane in 1...8 {
          group.addTask {
            for number in 1...20 {
              let url = try #require(URL(string: "http://host\(lane % 2)/\(lane)/\(number)"))
              #expect(try await transport.send(NetworkRequest(url: url)).text == url.path)
            }
          }
        }
        try await group.waitForAll()
      }
    }

    @Test(arguments: ["", "x", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"])
    func `an idle connection that ends, or has unrequested bytes, is not reused`(
      unasked: String
    ) async throws {
      let (silence, continuation) = AsyncStream.makeStream(of: Void.self)
      let listener = try UnixListener { peer in
        try UnixListener.respond(to: peer)
        if unasked.isEmpty { peer.shutdown() } else { try peer.write(unasked) }
        continuation.yield()
        try peer.waitForEnd()
      }
      defer { listener.close() }
      let transport = transport(listener.path)
      for path in ["a", "b"] {
        let request = NetworkRequest(url: try #require(URL(string: "http://localhost/\(path)")))
        #expect(try await transport.send(request).text == "/\(path)")
        for await _ in silence { break }
      }
      #expect(listener.connectionCount == 2)
    }

    @Test func `a path without a socket fails the send, and the error names it`() async throws {
      let request = NetworkRequest(url: try #require(URL(string: "http://localhost/")))
      let error = try await transport("/nowhere/socket").failure(of: request)
      #expect(error.code == .cannotConnect)
      #expect(error.message.contains("/nowhere/socket"), "\(error)")
    }

    @Test(arguments: [108, 300])
    func `a path that is too long for the system fails the send, and the error tells its length`(
      length: Int
    ) async throws {
      let request = NetworkRequest(url: try #require(URL(string: "http://localhost/")))
      let path = "/" + String(repeating: "x", count: length - 1)
      let error = try await transport(path).failure(of: request)
      #expect(error.code == .refusedOption)
      #expect(error.message.contains(" \(length) bytes"), "\(error)")
    }

    @Test(arguments: ["\u{0}other", nil])
    func `a path that no file may have does not lead elsewhere`(suffix: String?) async throws {
      let listener = try UnixListener { peer in try UnixListener.respond(to: peer) }
      defer { listener.close() }
      let transport = transport(suffix.map { listener.path + $0 } ?? "")
      let request = NetworkRequest(url: try #require(URL(string: "http://localhost/a")))
      let error = try await transport.failure(of: request)
      #expect(error.code == .refusedOption)
      #expect(error.message.contains("unixSocketPath"))
      #expect(listener.connectionCount == 0)
    }

    @Test func `the error of a socket does not name a proxy, because none is used`() async throws {
      let proxy = try CurlTransport.Proxy.url(#require(URL(string: "http://proxy.test:3128")))
      let request = NetworkRequest(url: try #require(URL(string: "http://localhost/")))
      let error = try await transport("/nowhere/socket", proxy).failure(of: request)
      #expect(!error.message.contains("proxy.test"), "\(error)")
    }
  }

  /// A server at a path of its own that calls a closure with each connection, on a thread of the connection's.
  private final class UnixListener: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "s\(UInt32.random(in: 0...UInt32.max))").path
    private let descriptor: Int32
    private let connections = Locked(0)

    /// The number of connections so far.
    var connectionCount: Int { connections.withLock { $0 } }

    init(_ serve: @escaping @Sendable (Peer) throws -> Void) throws {
      #if canImport(Glibc) || canImport(Musl)
        let kind = Int32(SOCK_STREAM.rawValue)
      #else
        let kind = SOCK_STREAM
      #endif
      descriptor = socket(AF_UNIX, kind, 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { bytes in
        bytes.copyBytes(from: path.utf8.prefix(bytes.count - 1))
      }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      let code = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
      }
      guard code == 0, listen(descriptor, 8) == 0 else { throw POSIXError(.EINVAL) }
      Thread.detachNewThread { [descriptor, connections] in
        while true {
          let client = accept(descriptor, nil, nil)
          guard client >= 0 else { return }
          connections.withLock { $0 += 1 }
          Thread.detachNewThread { try? serve(Peer(client)) }
        }
      }
    }

    /// Reads a request, and sends its path back over a connection that stays open.
    static func respond(to peer: Peer) throws {
      let path = try peer.readHead().split(separator: " ").dropFirst().first ?? ""
      try peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)")
    }

    func close() {
      // Shutting it down ends the thread's wait.
      _ = shutdown(descriptor, Int32(SHUT_RDWR))
      _ = unlink(path)
    }
  }
#endif
