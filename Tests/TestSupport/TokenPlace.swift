#if os(Linux) || os(macOS)
  public import Foundation
  public import RequestBehaviors
  import RequestBehaviorsTesting

  /// A place of a token that processes share, and the server that they ask.
  ///
  /// The server gives `t1`, `r1` for `r0`, refuses a refresh token that was spent, and accepts `t1`.
  public final class TokenPlace: Sendable {
    /// A token that the server does not accept any more.
    public static let firstToken = AccessToken("t0", lifetime: .seconds(3_600), refreshToken: "r0")

    /// Where the token is.
    public let file: URL
    private let folder: URL
    private let server: LoopbackServer
    private let requests: Locked<[String]>

    /// Makes a place in a folder of its own.
    ///
    /// - Parameter name: The name of the file; one that ends in `.sqlite` is for a database.
    /// - Throws: What keeps the server from starting.
    public init(_ name: String) throws {
      let requests = Locked<[String]>([])
      self.requests = requests
      folder = FileManager.default.temporaryDirectory.appending(path: "processes-\(UUID().uuidString)")
      file = folder.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      server = try LoopbackServer { (request: LoopbackRequest) in
        guard request.path == "/token" else {
          return .status(request.headers["Authorization"] == "Bearer t1" ? 200 : 401)
        }
        let fields = String(decoding: request.body, as: UTF8.self).split(separator: "&")
        let sent = fields.first { $0.hasPrefix("refresh_token=") }.map { String($0.dropFirst(14)) } ?? "none"
        let isFirst = requests.withLock { spent in
          defer { spent.append(sent) }
          return !spent.contains(sent)
        }
        guard isFirst else { return .json(#"{"error":"invalid_grant"}"#, status: 400) }
        return .json(#"{"access_token":"t1","expires_in":3600,"refresh_token":"r1"}"#)
      }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Where the server is.
    public var baseURL: URL { server.baseURL }

    /// The refresh tokens that were sent, in their order.
    public var spent: [String] { requests.withLock { $0 } }

    /// Starts a process that sends one request with a token of this place.
    ///
    /// - Parameter pause: Where it waits for a line.
    /// - Returns: The process.
    /// - Throws: What keeps it from starting.
    public func process(_ pause: String) throws -> ChildProcess {
      guard let program = ChildProcess.fixture("TokenFileWriter") else { throw CocoaError(.fileNoSuchFile) }
      return try ChildProcess(program, [file.path(percentEncoded: false), server.baseURL.absoluteString, pause])
    }

    /// Starts a process, and stops it when it has come to a place.
    ///
    /// - Parameter pause: The place.
    /// - Returns: The process.
    /// - Throws: What keeps it from starting, or from coming there.
    public func process(stoppedAt pause: String) async throws -> ChildProcess {
      let process = try process(pause)
      guard await process.lines(1) == "paused\n" else { throw CocoaError(.executableLoad) }
      process.pause()
      return process
    }
  }
#endif
