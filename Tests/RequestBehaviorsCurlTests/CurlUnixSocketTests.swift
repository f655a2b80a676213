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
      let path = FileManager.default.temporaryDirectory.appending(path: "s\(UInt32.random(in: 0...UInt32.max))").path
      let listener = try UnixListener(path)
      defer { listener.close() }
      let transport = transport(path, try .url(#require(URL(string: "http://127.0.0.1:1"))))
      let baseURL = try #require(URL(string: "http://engine.test/v1.44"))
      let client = NetworkClient(baseURL: baseURL, transport: transport)
      for _ in 0..<2 {
        let text: String = try await client.send(.get("containers/json"))
        #expect(text.hasPrefix("GET /v1.44/containers/json HTTP/1.1\r\nHost: engine.test\r\n"))
      }
    }

    @Test(arguments: ["/nowhere/socket", "/" + String(repeating: "x", count: 300)])
    func `a path without a socket, and one that is too long, fail the send`(path: String) async throws {
      let request = NetworkRequest(url: try #require(URL(string: "http://localhost/")))
      let error = await #expect(throws: NetworkError.self) { try await transport(path).send(request) }
      #expect(error.map { [.cannotConnect, .dnsFailed].contains($0.code) } == true)
    }
  }

  /// A server that sends back the head of each request.
  private final class UnixListener: Sendable {
    private let descriptor: Int32
    private let path: String

    init(_ path: String) throws {
      self.path = path
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
      Thread.detachNewThread { [descriptor] in UnixListener.serve(descriptor) }
    }

    private static func serve(_ descriptor: Int32) {
      while true {
        let client = accept(descriptor, nil, nil)
        guard client >= 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(client, &buffer, buffer.count)
        let head = Array(buffer.prefix(max(count, 0)))
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: \(head.count)\r\nConnection: close\r\n\r\n".utf8) + head
        _ = write(client, answer, answer.count)
        _ = shutdown(client, Int32(SHUT_WR))
        Glibc.close(client)
      }
    }

    func close() {
      // Shutting it down ends the thread's wait.
      _ = shutdown(descriptor, Int32(SHUT_RDWR))
      _ = unlink(path)
    }
  }
#endif
