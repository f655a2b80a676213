#if os(macOS) || os(Linux)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsSQLite
  import RequestBehaviorsTesting

  /// A note that was edited while the device was offline.
  struct EditNote: OutboxOperation {
    static let name = "note.edit"
    var number: Int
    var text: String
    var delivery: OutboxDelivery { OutboxDelivery(lane: "notes") }

    func request(in db: Database) -> Request<Void> { .put("notes/\(number)", body: .json(["text": text])) }
  }

  /// Two edits that are made offline, by a process that is killed, and that arrive once and in order.
  struct OutboxTour {
    let api: URL
    let file: String

    private func outbox(_ client: NetworkClient) async throws -> Outbox {
      try await Outbox(try SQLiteStore(path: file), client: client, operations: [EditNote.self])
    }

    /// A transport of a device without a network.
    private struct Offline: Transport {
      func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        throw NetworkError(.cannotConnect, "the device is offline", request: request)
      }

      func shutdown() async {}
    }

    private func client(_ transport: (any Transport)? = nil) -> NetworkClient {
      NetworkClient(
        baseURL: api.appending(path: "v1"), behaviors: [WireLog(), .nonceVerification()], transport: transport)
    }

    // MARK: The process that is killed

    /// Enqueues two edits, tells of them, and waits to be killed.
    func edit() async throws {
      let outbox = try await outbox(client(Offline()))
      outbox.start()
      try await outbox.enqueue(EditNote(number: 1, text: "milk"))
      try await outbox.enqueue(EditNote(number: 2, text: "tea"))
      FileHandle.standardOutput.write(Data("two edits are queued\n".utf8))
      try await Task.sleep(for: .seconds(60))
    }

    /// Runs `edit` in a process of its own, and kills it once both edits are queued.
    private func killEditor() throws {
      let editor = Process()
      editor.executableURL = Bundle.main.executableURL
      editor.arguments = ["--edit", file, api.absoluteString]
      let output = Pipe()
      editor.standardOutput = output
      try editor.run()
      var text = ""
      while !text.contains("queued\n"), case let data = output.fileHandleForReading.availableData, !data.isEmpty {
        text += String(decoding: data, as: UTF8.self)
      }
      kill(editor.processIdentifier, SIGKILL)
      editor.waitUntilExit()
      print("  another process, offline: \(text.split(separator: "\n").last ?? "nothing"); it was killed")
      try Complaint.unless(editor.terminationReason == .uncaughtSignal, "the process was killed")
    }

    // MARK: The next start

    func run(_ servers: OwnServers) async throws {
      heading("Requests that must arrive survive the end of the process")
      try killEditor()
      let client = client()
      let outbox = try await outbox(client)
      print("\n  started again, behind a captive portal:\n")
      servers.api.enqueue(.html("<h1>Welcome to the hotel. Please sign in.</h1>"))
      let left = try await outbox.drain()
      print("\n  still to be delivered: \(left.waiting)")
      try Complaint.unless(left.waiting == 2, "the portal's 200 removed no edit")
      print("\n  the portal is gone:\n")
      let end = try await outbox.drain()
      print("\n  still to be delivered: \(end.waiting)")
      try Complaint.unless(end.isEmpty, "both edits were delivered")
      let arrived = servers.api.requests.filter { $0.path.hasPrefix("/v1/notes") }
      try Complaint.unless(arrived.map(\.path).suffix(2) == ["/v1/notes/1", "/v1/notes/2"], "they came in order")
      let keys = arrived.map { $0.headers["Idempotency-Key"] }
      try Complaint.unless(Set(keys).count == 2, "each had one key, with the portal and with the server")
      await client.shutdown()
    }
  }

  extension OwnTour {
    func requestsThatMustArrive() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "QuickStart-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(path: "notes.sqlite").path(percentEncoded: false)
      try await OutboxTour(api: servers.api.baseURL, file: file).run(servers)
    }
  }
#endif
