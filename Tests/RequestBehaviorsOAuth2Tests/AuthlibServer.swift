import Foundation
import TestSupport

#if os(Linux) || os(macOS)
  /// A strict authorization server on Python's authlib, in a process of its own; it ends when the instance is released.
  final class AuthlibServer {
    let baseURL: URL
    private let process: ChildProcess

    private static let environment = URL(fileURLWithPath: "/usr/bin/env")
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/AuthorizationServer/server.py")

    /// Whether Python 3, authlib and flask are installed.
    static func isAvailable() async throws -> Bool {
      let modules = "import authlib.integrations.flask_oauth2, joserfc, flask, cryptography"
      return try await ChildProcess.run(environment, ["python3", "-c", modules]).status == 0
    }

    /// Starts the server and waits until it listens.
    init() async throws {
      process = try ChildProcess(Self.environment, ["python3", Self.script.path(percentEncoded: false)])
      let port = await process.lines(1).trimmingCharacters(in: .whitespacesAndNewlines)
      baseURL = url("http://127.0.0.1:\(port)/")
    }
  }
#endif
