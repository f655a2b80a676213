import Foundation
import RequestBehaviorsTesting
import TestSupport
import Testing

@testable import RequestBehaviors

/// An unfinished file is resumed for its owners only.
@Suite(.limited) struct DownloadOwnerTests {
  private let server: DownloadFixture

  init() throws { server = try DownloadFixture() }

  private func mode(_ name: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: server.folder.appending(path: name).path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  /// Leaves a half file behind.
  private func breakOff(
    _ behaviors: [any RequestBehavior] = [], _ request: Request<NetworkResponse> = .get("file")
  ) async throws {
    server.cuts.value = [300]
    let error = await #expect(throws: NetworkError.self) {
      try await server.client(behaviors).download(request, to: server.destination)
    }
    #expect(error?.code == .truncatedBody)
  }

  private struct Ticket: CredentialBehavior {
    let order = BehaviorOrder.authentication
    let credential = "ticket"
    let ticket: String

    func headers(for request: NetworkRequest) -> HeaderFields {
      HeaderFields([.init("X-Ticket", ticket, sensitive: origins)])
    }
  }

  private static let credentials: [@Sendable (String) -> ([any RequestBehavior], Request<NetworkResponse>)] = [
    { ([.bearer($0)], .get("file")) },
    { ([.apiKey("X-API-Key", $0)], .get("file")) },
    { ([.headers(["X-Session-Token": $0])], .get("file")) },
    { ([], .get("file", headers: ["Authorization": "Bearer \($0)"])) },
    { ([], .get("file", headers: ["Cookie": "sid=\($0)"])) },
    { ([], Request<NetworkResponse>.get("file").with(header: "X-Own", $0, sensitive: .any)) },
  ]

  @Test(arguments: credentials.indices)
  func `another credential restarts the download, and the same one resumes it`(kind: Int) async throws {
    let make = Self.credentials[kind]
    try await breakOff(make("alice-secret").0, make("alice-secret").1)
    let sidecar = try String(contentsOf: server.folder.appending(path: "file.bin.partial.json"), encoding: .utf8)
    #expect(!sidecar.contains("alice-secret"))
    try await breakOff(make("bob-secret").0, make("bob-secret").1)
    try await server.client(make("bob-secret").0).download(make("bob-secret").1, to: server.destination)
    #expect(server.ranges == ["all -", "all -", "bytes=300- \"a\""])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a download with a credential that it cannot see is not resumed`() async throws {
    try await breakOff([Ticket(ticket: "alice-secret")])
    #expect(try server.names == [])
    try await server.client([Ticket(ticket: "bob-secret")]).download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "all -"])
  }

  @Test func `a rest whose owner is not known is not appended`() async throws {
    try await breakOff()
    // The response that begins anew breaks off, too.
    server.cuts.value = [300, 300]
    await #expect(throws: NetworkError.self) {
      try await server.client([Ticket(ticket: "alice-secret")]).download(.get("file"), to: server.destination)
    }
    #expect(try server.names == [])
    try await server.client([Ticket(ticket: "bob-secret")]).download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "bytes=300- \"a\"", "all -", "all -"])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  /// A signature that differs at each send, of an owner who may be known.
  private struct Signature: CredentialBehavior {
    let order = BehaviorOrder.signing
    let credential = "signature"
    let owner: String?

    func scope(for request: NetworkRequest) -> String? { owner }

    func modify(_ request: inout NetworkRequest) {
      request.headers.set("X-Signature", UUID().uuidString, sensitive: origins)
    }
  }

  @Test(arguments: [nil, "signer"]) func `an event says that a download could not be resumed after an interruption`(
    owner: String?
  ) async throws {
    let events = try await server.client([Signature(owner: owner)])
      .download(.get("file"), to: server.destination).request.call.events
    #expect(events.contains { $0.message.contains("owner of the response is not known") } == (owner == nil))
    try await breakOff([Signature(owner: owner)])
    #expect(try server.names.contains("file.bin.partial") == (owner != nil))
  }

  @Test func `a download is resumed although a redirect drops its credential`() async throws {
    server.replies.value = [(302, ["Location": "https://cdn.example.net/file"], "")]
    try await breakOff([.bearer("alice-secret")])
    server.replies.value = [(302, ["Location": "https://cdn.example.net/file"], "")]
    try await server.client([.bearer("alice-secret")]).download(.get("file"), to: server.destination)
    #expect(server.ranges.last == "bytes=300- \"a\"")
  }

  @Test func `only the owner of the process can read a partial file, and the complete one has default permissions`()
    async throws
  {
    let plain = server.folder.appending(path: "plain").path
    #expect(FileManager.default.createFile(atPath: plain, contents: nil))
    try await breakOff()
    #expect(try mode("file.bin.partial") == 0o600)
    #expect(try mode("file.bin.partial.json") == 0o600)
    try await server.client().download(.get("file"), to: server.destination)
    #expect(try mode("file.bin") == mode("plain"))
    #expect(try server.names == ["file.bin", "plain"])
  }

  @Test func `another file or link beside the destination is not changed`() async throws {
    let names = ["file.bin.partial.mode", "file.bin.mode", "file.bin.tmp"]
    for name in names { try Data("mine".utf8).write(to: server.folder.appending(path: name)) }
    let link = server.folder.appending(path: "other.bin.partial.mode")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: server.folder.appending(path: names[1]))
    for name in ["file.bin", "other.bin"] {
      try await server.client().download(.get("file"), to: server.folder.appending(path: name))
    }
    for name in names {
      #expect(try Data(contentsOf: server.folder.appending(path: name)) == Data("mine".utf8), "\(name)")
    }
    #expect(try server.names == (names + ["file.bin", "other.bin", "other.bin.partial.mode"]).sorted())
  }

  // MARK: - Sign-out

  private let session = TokenSession(source: .closure { _ in throw NetworkError.notSignedIn("the test") })

  private func signedIn(_ behaviors: any RequestBehavior...) async throws -> [any RequestBehavior] {
    try await session.signIn(AccessToken("alice"))
    return [.tokenAuth(session)] + behaviors
  }

  @Test func `a sign-out removes the partial files of its user's downloads, and no others`() async throws {
    let behaviors = try await signedIn()
    let client = server.client(behaviors)
    server.cuts.value = [300, 300]
    let other = server.folder.appending(path: "other.bin")
    for (request, place) in [
      (Request<NetworkResponse>.get("file"), server.destination), (.get("file").with(\.authentication, .none), other),
    ] {
      await #expect(throws: NetworkError.self) { try await client.download(request, to: place) }
    }
    try await session.signOut()
    #expect(try server.names == ["other.bin.partial", "other.bin.partial.json"])
  }

  @Test func `a sign-out keeps a partial file that another user has begun since`() async throws {
    let client = server.client(try await signedIn())
    server.cuts.value = [300, 200]
    await #expect(throws: NetworkError.self) { try await client.download(.get("file"), to: server.destination) }
    await #expect(throws: NetworkError.self) {
      try await client.download(
        Request<NetworkResponse>.get("file").with(\.authentication, .none), to: server.destination)
    }
    try await session.signOut()
    #expect(try server.names == ["file.bin.partial", "file.bin.partial.json"])
  }

  @Test func `a sign-out removes the partial file of a released client`() async throws {
    try await breakOff(try await signedIn())
    #expect(try server.names == ["file.bin.partial", "file.bin.partial.json"])
    try await session.signOut()
    #expect(try server.names == [])
  }

  @Test func `a sign-out removes the partial file of an earlier download, also while a later one waits`() async throws {
    let gate = Gate()
    let events = RecordedEvents()
    let client = server.client(try await signedIn(.gate(gate), events))
    server.cuts.value = [300]
    await #expect(throws: NetworkError.self) { try await client.download(.get("file"), to: server.destination) }
    gate.close()
    let destination = server.destination
    let second = Task { try await client.download(.get("file"), to: destination) }
    await events.waitFor(1, "held")
    try await session.signOut()
    gate.open()
    await #expect(throws: NetworkError.self) { try await second.value }
    #expect(try server.names == [])
  }

  @Test func `a download that waits for its response keeps its place over a sign-out`() async throws {
    let behaviors = try await signedIn()
    let gate = TestGate()
    let transport = ClosureTransport { request in
      await gate.pass()
      return NetworkResponse(request: request, statusCode: 200, body: .data(Data("late".utf8)))
    }
    let waiting = NetworkClient(
      configuration: RequestConfiguration(baseURL: baseURL, behaviors: behaviors), transport: transport)
    let destination = server.destination
    let download = Task { try await waiting.download(.get("file"), to: destination) }
    await gate.waitForArrivals(1)
    try await session.signOut()
    try await session.signIn(AccessToken("bob"))
    let next = { [server] in try await server.client(behaviors).download(.get("file"), to: destination) }
    let busy = await #expect(throws: NetworkError.self) { try await next() }
    #expect(busy?.code == .downloadInProgress)
    gate.open()
    let error = await #expect(throws: NetworkError.self) { try await download.value }
    #expect(error?.code == .signedOut)
    _ = try await next()
    #expect(try Data(contentsOf: destination) == server.content.value)
  }

  /// Begins a download whose server stops to send within the body, and waits until a part of it is in the file.
  private func beginStalledDownload(_ behaviors: [any RequestBehavior]) async -> Task<NetworkResponse, any Error> {
    let (parts, body) = AsyncThrowingStream.makeStream(of: Data.self)
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: 200, headers: ["ETag": "\"a\""],
        body: .stream(ByteStream(parts) { body.finish() }))
    }
    let stalled = NetworkClient(
      configuration: RequestConfiguration(baseURL: baseURL, behaviors: behaviors), transport: transport)
    let destination = server.destination
    let download = Task { try await stalled.download(.get("file"), to: destination) }
    body.yield(Data(count: 300 << 10))
    while !FileManager.default.fileExists(atPath: destination.path + ".partial.json") { await Task.yield() }
    return download
  }

  @Test func `a sign-out ends a download whose server has stopped sending, and frees its place for the next user`()
    async throws
  {
    let behaviors = try await signedIn()
    let destination = server.destination
    let download = await beginStalledDownload(behaviors)
    try await session.signOut()
    try await session.signIn(AccessToken("bob"))
    try await server.client(behaviors).download(.get("file"), to: destination)
    let error = await #expect(throws: NetworkError.self) { try await download.value }
    #expect(error?.code == .signedOut)
    #expect(try server.names == ["file.bin"])
    #expect(try Data(contentsOf: destination) == server.content.value)
  }

  private struct SlowAtSignOut: RequestBehavior {
    let gate: TestGate

    func scopeEnded(_ scope: String) async { await gate.pass() }
  }

  @Test func `a sign-out ends a stalled download before it waits for a behavior`() async throws {
    let (gate, session) = (TestGate(), session)
    let download = await beginStalledDownload(try await signedIn(SlowAtSignOut(gate: gate)))
    let signOut = Task { try await session.signOut() }
    await gate.waitForArrivals(1)
    let error = await #expect(throws: NetworkError.self) { try await download.value }
    #expect(error?.code == .signedOut)
    gate.open()
    try await signOut.value
  }

  @Test func `a download of another user that waits at the sign-out keeps its own file`() async throws {
    let gate = Gate()
    let events = RecordedEvents()
    let client = server.client(try await signedIn(.gate(gate), events))
    server.cuts.value = [300, 200]
    await #expect(throws: NetworkError.self) { try await client.download(.get("file"), to: server.destination) }
    gate.close()
    let destination = server.destination
    let second = Task {
      try await client.download(
        Request<NetworkResponse>.get("file").with(\.authentication, .none), to: destination)
    }
    await events.waitFor(1, "held")
    try await session.signOut()
    gate.open()
    await #expect(throws: NetworkError.self) { try await second.value }
    #expect(try server.names == ["file.bin.partial", "file.bin.partial.json"])
  }

  @Test func `a download that is under way at the sign-out fails, and leaves no file`() async throws {
    let session = session
    let acting = ClosureBehavior("acting", order: .last) { request, next in
      let response = try await next(request)
      try await session.signOut()
      return response
    }
    let client = server.client(try await signedIn(acting))
    let error = await #expect(throws: NetworkError.self) {
      try await client.download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .signedOut)
    #expect(try server.names == [])
  }

  @Test func `a download whose user has left before it begins keeps another user's partial file`() async throws {
    try await breakOff()
    let session = session
    let acting = ClosureBehavior("acting", order: .redirects) { request, next in
      let response = try await next(request)
      try await session.signOut()
      return response
    }
    let client = server.client(try await signedIn(acting))
    let error = await #expect(throws: NetworkError.self) {
      try await client.download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .signedOut)
    #expect(try server.names == ["file.bin.partial", "file.bin.partial.json"])
    try await server.client().download(.get("file"), to: server.destination)
    #expect(server.ranges == ["all -", "all -", "bytes=300- \"a\""])
    #expect(try Data(contentsOf: server.destination) == server.content.value)
  }

  @Test func `a download whose user signs out right before the file goes to its place fails`() async throws {
    let session = session
    let acting = ClosureBehavior("acting", order: .first) { request, next in
      let response = try await next(request)
      try await session.signOut()
      return response
    }
    let client = server.client(try await signedIn(acting))
    let error = await #expect(throws: NetworkError.self) {
      try await client.download(.get("file"), to: server.destination)
    }
    #expect(error?.code == .signedOut)
    #expect(try server.names == [])
  }

  @Test func `a download waits while the file of a user who has left is removed`() async throws {
    let destinations = DownloadDestinations.shared
    let (client, destination) = (server.client(), server.destination)
    let place = destination.deletingLastPathComponent().resolvingSymlinksInPath().appending(path: "file.bin").path
    if let obstacle = destinations.insert([place], forRemoval: true) { Issue.record("\(obstacle) has the place") }
    let hasEnded = Box(false)
    let download = Task {
      defer { hasEnded.value = true }
      return try await client.download(.get("file"), to: destination)
    }
    #expect(try await eventually { hasEnded.value || destinations.waiterCount > 0 })
    #expect(!hasEnded.value)
    #expect(destinations.remove([place]))
    _ = try await download.value
    #expect(try server.names == ["file.bin"])
  }

  @Test func `a download that waits for its place is not sent as the user who signs in meanwhile`() async throws {
    let gate = TestGate()
    let leaving = ClosureBehavior("leaving", order: .first) { request, next in
      do { return try await next(request) } catch {
        await gate.pass()
        throw error
      }
    }
    let behaviors = try await signedIn()
    let (client, destination) = (server.client(behaviors), server.destination)
    let alices = await beginStalledDownload(behaviors + [leaving])
    try await session.signIn(AccessToken("bob"))
    await gate.waitForArrivals(1)
    let bobs = Task { try await client.download(.get("file"), to: destination) }
    #expect(try await eventually { DownloadDestinations.shared.waiterCount > 0 })
    try await session.signIn(AccessToken("carol"))
    gate.open()
    await #expect(throws: NetworkError.self) { try await alices.value }
    let error = await #expect(throws: NetworkError.self) { try await bobs.value }
    #expect(error?.code == .signedOut)
    #expect(server.requests.value.map { $0.headers["Authorization"] } == [])
    #expect(try server.names == [])
  }

  @Test func `a destination stays taken until the file of a user who left is removed`() {
    let destinations = DownloadDestinations.shared
    let place = server.destination.path
    if let obstacle = destinations.insert([place], forRemoval: false) { Issue.record("\(obstacle) has the place") }
    let record = DownloadRecord(key: "alice", salt: Data(), validator: "\"a\"", source: "", total: nil)
    #expect(destinations.discardLater(record, at: [place]))
    #expect(!destinations.remove([place]))
    #expect(destinations.unwanted(at: [place]) == [record])
    #expect(destinations.remove([place]))
  }
}
