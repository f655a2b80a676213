#if os(Linux) || os(macOS)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsOAuth2
  import RequestBehaviorsSQLite
  import RequestBehaviorsTesting
  import TestSupport

  /// A sign-in whose token processes share, and the strict server that counts what they send.
  final class SharedSignIn: Sendable {
    let id = MockOAuth2Server()
    private let folder: URL
    private let file: URL
    private let service: LoopbackServer

    /// Makes a place for the token, and a server.
    ///
    /// - Parameters:
    ///   - name: The name of the file; one that ends in `.sqlite` is a database.
    ///   - repeatsLast: Whether the server gives the same response again until the newer refresh token is used, as
    ///     servers do whose clients may lose a response.
    /// - Throws: The error of the server or the file system.
    init(_ name: String, repeatsLast: Bool = false) throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "sign-in-\(UUID().uuidString)")
      file = folder.appending(path: name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let last = Locked<(form: String, response: LoopbackResponse)?>(nil)
      service = try LoopbackServer { [id] request in
        let isRefresh = request.text.contains("grant_type=refresh_token")
        if repeatsLast, isRefresh, let last = last.withLock({ $0 }), last.form == request.text { return last.response }
        if let response = id.response(to: request) {
          if isRefresh { last.withLock { $0 = (request.text, response) } }
          return response
        }
        let value = request.headers["Authorization"]?.split(separator: " ").last.map(String.init) ?? ""
        return .status(id.accepts(AccessToken(value)) ? 200 : 401)
      }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var store: any TokenStore {
      get throws {
        guard file.pathExtension == "sqlite" else { return FileTokenStore(url: file) }
        return SQLiteTokenStore(try SQLiteStore(path: file.path(percentEncoded: false)))
      }
    }

    /// The bodies of the refreshes that were sent.
    var refreshes: [String] { service.requests.map(\.text).filter { $0.contains("grant_type=refresh_token") } }

    /// Signs in by a page and a code, two hours ago: the token has expired since.
    func signIn() async throws {
      let past = ManualClock(date: Date().addingTimeInterval(-7_200))
      var configuration = RequestConfiguration(baseURL: service.baseURL)
      configuration.clock = past.requestClock
      let client = NetworkClient(configuration: configuration)
      let server = try await OAuth2Server.discover("http://127.0.0.1:\(service.port)", over: client)
      let endpoint = TokenEndpoint(server, clientID: "app")
      let session = TokenSession(source: .refreshToken(endpoint), store: try store, clock: past.requestClock)
      let flow = OAuth2Flow(
        session: session, endpoint: endpoint, redirectURI: url("http://127.0.0.1:1/done"), over: client)
      try await flow.signIn { page in
        let decided = url("\(page.absoluteString)&decision=allow")
        let response = try await client.send(
          Request<NetworkResponse>.get(url: decided).with(\.redirects, .none)
            .with(\.acceptableStatuses, StatusCodes(302...302)))
        return url(response.headers["Location"] ?? "")
      }
    }

    /// A client of this process with a session over the same store.
    func client(_ clock: RequestClock) throws -> (session: TokenSession, client: NetworkClient) {
      let endpoint = TokenEndpoint(url: service.baseURL.appending(path: "token"), clientID: "app")
      let session = TokenSession(source: .refreshToken(endpoint), store: try store, clock: clock)
      return (session, NetworkClient(baseURL: service.baseURL, behaviors: [.tokenAuth(session)]))
    }

    /// Starts a process that sends one request with the token.
    ///
    /// - Parameter pause: The place at which it waits for a line.
    /// - Returns: The process.
    /// - Throws: The error of starting it.
    func process(_ pause: String) throws -> ChildProcess {
      guard let program = ChildProcess.fixture("TokenFileWriter") else { throw CocoaError(.fileNoSuchFile) }
      return try ChildProcess(program, [file.path(percentEncoded: false), service.baseURL.absoluteString, pause])
    }

    /// Starts a process, and returns it when it has come to a place.
    func process(waitingAt pause: String) async throws -> ChildProcess {
      let process = try process(pause)
      guard await process.lines(1) == "paused\n" else { throw CocoaError(.executableLoad) }
      return process
    }
  }
#endif
