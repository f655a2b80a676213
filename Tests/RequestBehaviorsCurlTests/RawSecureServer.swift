#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviorsTesting
  import TestSupport

  /// A server over TLS that says what a test wants, byte for byte.
  ///
  /// It is the `openssl` program, whose standard input goes out and whose standard output is what came in. It serves one
  /// connection after the other.
  final class RawSecureServer: Sendable {
    let port: UInt16
    private let process: ChildProcess

    /// Starts a server with the certificate of another.
    ///
    /// - Parameters:
    ///   - server: Whose certificate it has.
    ///   - arguments: Further arguments of `openssl s_server`.
    /// - Throws: `CocoaError` if it cannot be started.
    init(_ server: SecureServer, _ arguments: [String] = []) async throws {
      let directory = server.directory.path(percentEncoded: false)
      let holder = try LoopbackServer()
      port = holder.port
      holder.stop()
      guard let openssl = SecureServer.path("openssl") else { throw CocoaError(.fileNoSuchFile) }
      process = try ChildProcess(
        openssl,
        ["s_server", "-quiet", "-accept", "127.0.0.1:\(port)", "-cert", "\(directory)/server.pem"]
          + ["-key", "\(directory)/server.key"] + arguments)
      // To connect without a handshake ends at once, and tells that it listens.
      let listens = try await eventually { [port] in (try? Peer(connectingTo: port)) != nil }
      if !listens { throw CocoaError(.executableLoad) }
    }

    var url: URL {
      get throws {
        guard let url = URL(string: "https://localhost:\(port)/") else { throw URLError(.badURL) }
        return url
      }
    }

    /// Waits for the head of a request.
    func readHead() async -> String { await read(until: "\r\n\r\n") }

    /// Waits for a text that ends with a line.
    func read(until end: String) async -> String {
      var text = ""
      while !text.contains(end) {
        let lines = await process.lines(1)
        if lines.isEmpty { return text }
        text += lines
      }
      return text
    }

    /// Sends text, up to 16 KiB of it as one record of TLS.
    func write(_ text: String) async { await write(Array(text.utf8)) }

    /// Sends bytes.
    func write(_ bytes: [UInt8]) async { await process.write(Data(bytes)) }

    /// Ends without telling so over TLS.
    func kill() async { _ = await process.kill(afterLines: 0) }
  }
#endif
