import Foundation
import TestSupport

#if os(Linux) || os(macOS)
  /// A strict authorization server on Python's authlib, in a process of its own, which ends with the tests.
  final class AuthlibServer: Sendable {
    let baseURL: URL
    private let process: ChildProcess

    private static let environment = URL(fileURLWithPath: "/usr/bin/env")
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/AuthorizationServer/server.py")

    /// The server of all tests of a run: starting one takes longer than most of them.
    private static let shared = Task { try await AuthlibServer() }
    private static let availability = Task {
      // Looking is enough; importing takes as long as starting the server.
      let look = "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"
      let modules = ["authlib.integrations.flask_oauth2", "joserfc", "flask", "cryptography"]
      return try await ChildProcess.run(environment, ["python3", "-c", look] + modules).status == 0
    }

    /// Whether Python 3, authlib and flask are installed.
    static func isAvailable() async throws -> Bool { try await availability.value }

    /// Returns the server that the tests of a run share.
    static func running() async throws -> AuthlibServer { try await shared.value }

    /// Starts the server and waits until it listens.
    private init() async throws {
      process = try ChildProcess(Self.environment, ["python3", Self.script.path(percentEncoded: false)])
      let port = await process.lines(1).trimmingCharacters(in: .whitespacesAndNewlines)
      baseURL = url("http://127.0.0.1:\(port)/")
    }
  }
#endif
