import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting

/// The parts of the tour, in order.
enum Tour {
  /// Against servers in this process.
  case own
  /// Against a server that the user names.
  case other(URL)
  /// A sign-in with a browser, against a server in this process.
  case signIn(opensBrowser: Bool)

  func run() async throws {
    switch self {
    case .own: try await OwnTour(servers: OwnServers()).run()
    case .other(let url): try await OtherTour(url: url).run()
    #if os(macOS) || os(Linux)
      case .signIn(let opensBrowser):
        try await SignInTour { url in
          if opensBrowser { SignInTour.openBrowser(url) }
        }.run()
    #else
      case .signIn: throw Complaint("a sign-in with a browser works on macOS and Linux")
    #endif
    }
  }
}

struct OwnTour {
  let servers: OwnServers
  private let recorder = CallRecorder()

  init(servers: OwnServers) { self.servers = servers }

  struct User: Decodable {
    let login: String
    let name: String
  }

  private func client(of base: URL) -> NetworkClient {
    let key = ClosureBehavior(
      "APIKey", order: .request,
      headers: { _ in HeaderFields([.init("X-API-Key", "s3cret", sensitive: .baseURL)]) })
    return NetworkClient(
      baseURL: base.appending(path: "v1"),
      behaviors: [WireLog(), key, .nonceVerification(), .recording(recorder)])
  }

  func run() async throws {
    let client = client(of: servers.api.baseURL)
    try await typedRequest(client)
    try await captivePortal()
    try await redirect(client)
    try await failure(client)
    try await busyServer()
    try await cached(client)
    #if os(macOS) || os(Linux)
      try await requestsThatMustArrive()
      try await transports()
    #endif
    await client.shutdown()
    try writePage()
  }

  /// Writes the waterfall of this run.
  private func writePage() throws {
    let page = URL.temporaryDirectory.appending(path: "QuickStart.html")
    try recorder.recording.waterfall(title: "QuickStart").write(to: page)
    print("\nWhere the time went: \(page.path(percentEncoded: false))")
  }

  private func typedRequest(_ client: NetworkClient) async throws {
    heading("A typed request runs through a list of behaviors")
    let login = "octocat"
    let request = Request<User>.get("users/\(login)")
    print("\(try client.pipeline(for: request))\n")
    let user = try await client.send(request)
    print("\n  decoded: \(user)")
    try Complaint.unless(user.name == "Mona", "the user's name was decoded")
    try Complaint.unless(servers.api.requests.first?.headers["X-API-Key"] == "s3cret", "the key was sent")
  }

  private func captivePortal() async throws {
    heading("A captive portal answers 200 to everything, and is unmasked")
    do {
      let user: User = try await client(of: servers.portal.baseURL).send(.get("users/octocat"))
      throw Complaint("the portal's page was taken for \(user)")
    } catch let error as NetworkError where error.code == .intercepted {
      print("\n  \(error)")
    }
  }

  private func redirect(_ client: NetworkClient) async throws {
    heading("A redirect to another server is followed, without the credentials")
    let text: String = try await client.send(.get("download"))
    print("\n  got: \(text)")
    let arrived = servers.stranger.requests.first
    try Complaint.unless(arrived != nil, "the redirect was followed")
    try Complaint.unless(arrived?.headers["X-API-Key"] == nil, "the key stayed with its server")
  }

  private func failure(_ client: NetworkClient) async throws {
    heading("A failure says what happened")
    do {
      let user: User = try await client.send(.get("users/nobody"))
      throw Complaint("there is no user, but \(user)")
    } catch let error as NetworkError where error.code == .unacceptableStatus {
      print("\n  \(error)")
      try Complaint.unless(!"\(error)".contains("s3cret"), "the error hides the key")
    }
  }

  private func busyServer() async throws {
    heading("A server that is busy is asked again when it wants to be")
    let client = NetworkClient(
      baseURL: servers.api.baseURL.appending(path: "v1"), behaviors: [WireLog(), .resilience(), .recording(recorder)])
    servers.api.enqueue(.json(#"{"message":"busy"}"#, status: 503).header("Retry-After", "1"))
    let response = try await client.response(for: Request<User>.get("users/octocat"))
    for event in response.http.request.call.events { print("\n  \(event.source): \(event.message)") }
    try Complaint.unless(response.http.attempts.count == 2, "the request was sent again")
    await client.shutdown()
  }
}

extension OwnTour {
  private func cached(_ client: NetworkClient) async throws {
    heading("A 304 is served from the cache")
    let caching = client.with { $0.behaviors.append(.caching(MemoryCacheStore())) }
    for _ in 0..<2 {
      let response = try await caching.response(for: Request<[String]>.get("feed"))
      print("\n  from the \(response.http.source): \(response.value)")
    }
    let asked = servers.api.requests.filter { $0.path == "/v1/feed" }
    try Complaint.unless(asked.last?.headers[.ifNoneMatch] == "\"v1\"", "the server was asked whether it changed")
  }
}

struct OtherTour {
  let url: URL

  func run() async throws {
    heading("A request to your server")
    let client = NetworkClient(baseURL: url, behaviors: [WireLog()])
    print("\(try client.pipeline(for: Request<Data>.get("")))\n")
    print("\n  got \(try await download(with: client)) bytes")
    heading("The same with nonce verification")
    print("  A server that does not return the X-API-Nonce header cannot be told from an impostor:")
    print("  unless yours does, this request must fail.\n")
    do {
      let _: Data = try await client.with { $0.behaviors.append(.nonceVerification()) }.send(.get(""))
      print("\n  your server returns the nonce: the response is verified")
    } catch let error as NetworkError where error.code == .intercepted {
      print("\n  \(error)")
      print("\n  That is what it is for. Let the server return the header, or leave the behavior out.")
    }
    await client.shutdown()
  }

  /// Reads the response in chunks, none of which is kept, while a line shows how far it is.
  private func download(with client: NetworkClient) async throws -> Int {
    let progress = TransferProgress()
    async let shown: Void = ProgressBar().show(progress)
    let response = try await client.stream(.get("").with(\.progress, progress))
    var count = 0
    for try await chunk in response.bytes { count += chunk.count }
    await shown
    return count
  }
}
