public import Foundation
public import RequestBehaviors

/// A transport that records what a server sends once, and then plays it in tests without a network.
///
/// ```swift
/// @Test func issuesOfARepository() async throws {
///   let cassette = try CassetteTransport()
///   let client = NetworkClient(
///     baseURL: baseURL, behaviors: [.retry()], transport: cassette)
///   #expect(try await IssueStore(client).open().count == 30)
///   try cassette.verify()
/// }
/// ```
///
/// `REQUEST_BEHAVIORS_CASSETTES=missing swift test --filter IssueTests` records the test once; afterwards it plays
/// `Cassettes/IssueTests.issuesOfARepository.har` beside the test's source and never connects. The file is an HTTP
/// archive (HAR 1.2); that of a browser plays too.
///
/// Credentials are not written. They are hidden by their names and, where a call knows them to be secret, wherever they
/// appear; numbered placeholders keep the types of values, and equal values equal. Personal data is no credential: hide
/// it with `Redactor.sensitivePointers`.
///
/// Each test has its own file and its own transport, so tests may run in parallel. The k-th request of its kind gets
/// the k-th entry.
public final class CassetteTransport: Transport {
  struct State: Sendable {
    var entries = CassetteEntries()
    /// All sends that were recorded; each `save()` plans the file anew from all that have ended.
    var records: [CassetteRecord] = []
    /// The records that are in the file.
    var saved: Set<ObjectIdentifier> = []
    /// The secrets that were hidden in the file.
    var savedSecrets: Set<String> = []
    /// The lines of entries that this transport has read or written, apart from those of others.
    var knownLines: Set<String> = []
    /// The values that one of the requests so far knew to be secret.
    var secrets: Set<String> = []
    var unmatched: [String] = []
    var live: (any Transport)?
    /// Whether this is the transport that records the file.
    var isRecording = false
  }

  /// Whether the file is played or recorded.
  public let mode: CassetteMode
  let matching: CassetteMatching
  let redactor: Redactor
  let file: CassetteFile
  let sizeLimit: Int
  let ignored: Set<String>
  let state = Locked(State())
  let pace: ReplayPace
  let open = OpenSends(endedWith: "the cassette was shut down")
  private let makeLive: @Sendable () -> any Transport

  /// Creates a transport over the file of a test.
  ///
  /// - Parameters:
  ///   - name: The name of the file, without `.har`; by default that of the test's source and function.
  ///   - mode: Whether to play or to record; by default as `REQUEST_BEHAVIORS_CASSETTES` says: `replay`, `missing`,
  ///     `all` or `live`, and without that variable `replay`.
  ///   - live: The transport to record from; URLSession by default.
  ///   - matching: The parts of a request that must be as recorded.
  ///   - pace: The pace of played responses; by default without waits.
  ///   - redactor: Hides credentials in the file.
  ///   - ignored: The names of response fields that differ each time, besides `Date`, `Set-Cookie` and their like: a
  ///     change of them alone leaves an entry of the file as it is.
  ///   - directory: The folder of the file, beside the test's source or absolute.
  ///   - sizeLimit: The largest size in bytes of the file with its bodies; 10 MiB by default.
  ///   - file: The test's source.
  ///   - function: The test's function.
  /// - Throws: ``CassetteError`` if the file is missing or cannot be read, if another transport records it, or if the
  ///   mode would record where `CI` is set.
  public init(
    _ name: String? = nil, mode: CassetteMode? = nil,
    over live: @autoclosure @escaping @Sendable () -> any Transport = URLSessionTransport(),
    matching: CassetteMatching = .standard, pace: ReplayPace = .immediate,
    redactor: Redactor = .standard, ignoring ignored: [String] = [],
    directory: String = "Cassettes", sizeLimit: Int = 10 * 1_024 * 1_024, file: String = #filePath,
    function: String = #function
  ) throws {
    self.mode = try CassetteMode.chosen(
      mode, environment: CassetteMode.environment ?? ProcessInfo.processInfo.environment)
    self.file = CassetteFile(name, directory: directory, file: file, function: function)
    (self.matching, self.pace, self.sizeLimit, makeLive) = (matching, pace, sizeLimit, live)
    self.ignored = Set(ignored.map { $0.lowercased() })
    // A field that is compared must be in the file, unless it is a credential.
    var redactor = redactor
    redactor.allowedHeaders.formUnion(
      matching.comparedFields.filter { !HeaderFields.Field($0, "").isNamedLikeCredential })
    self.redactor = redactor
    guard self.mode != .live else { return }
    guard self.mode.records || self.file.exists else {
      throw CassetteError("there is no \(self.file.name); record it: \(self.file.command)")
    }
    let entries = try self.file.read(PlayableRedaction(redactor, numbered: false))
    if self.mode.records { try self.file.beginRecording(by: "\(self.file.filter).\(function)") }
    state.withLock { state in
      state.entries = CassetteEntries(entries)
      state.isRecording = self.mode.records
      state.knownLines = Set(entries.map(\.json.line)).subtracting(self.file.linesOfProcess)
    }
  }

  deinit {
    let (isRecording, count) = state.withLock { ($0.isRecording, $0.records.count - $0.saved.count) }
    guard isRecording else { return }
    file.endRecording()
    guard count > 0 else { return }
    CassetteTransport.warn(
      "\(file.name): \(count) recorded requests were not written; end the test with verify() or save()")
  }

  /// The date of the first recorded request, for a clock that makes freshness, cookies and tokens expire as they did;
  /// now if there is no entry.
  public var recordedAt: Date { state.withLock { $0.entries.all.map(\.date).min() } ?? Date() }

  /// The entries that no request has got.
  public var unused: [CassetteEntry] { state.withLock { $0.entries.unused } }

  /// Throws unless every entry was used and every request had one; where requests are recorded it writes them, as
  /// ``save()`` does.
  ///
  /// - Throws: ``CassetteError`` that lists the entries and the requests; the errors of ``save()``.
  public func verify() throws {
    // A test that ends with this call can be recorded without another line.
    guard mode == .replay else { return try save() }
    let unused = unused
    let unmatched = state.withLock { $0.unmatched }
    guard !unused.isEmpty || !unmatched.isEmpty else { return }
    let entries = unused.map { "entry \($0) of \(file.name) was not used" }
    throw CassetteError((entries + unmatched).joined(separator: "\n"))
  }

  // MARK: - Transport

  /// Plays the next entry of the request, or records it.
  ///
  /// - Throws: The recorded error; `NetworkError` of code `unmatchedRequest` with the nearest entry.
  public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try request.validate()
    try Task.checkCancellation()
    try open.checkIsRunning()
    guard mode != .live else { return try await live.send(request) }
    let start = request.call.clock.now()
    let shown = try await open.withBodyInMemory(request, sentAt: start)
    if mode != .recordAll, let entry = take(shown) {
      let progress = request.options.progress?.begin(sending: shown.body?.length)
      if let length = shown.body?.length { progress?.sent(length, of: length) }
      return try await play(entry, to: request, at: start).counted(by: progress)
    }
    guard mode.records else { throw unmatched(shown) }
    try checkCredentials(of: shown)
    return try await record(request, shown)
  }

  /// Whether the transport below adds a credential; false for a cassette that only plays.
  public func addsCredentials(to request: NetworkRequest) -> Bool {
    mode == .replay ? false : (try? live)?.addsCredentials(to: request) ?? false
  }

  /// Makes the transport below forget its user, if it was used.
  public func forgetUser() { state.withLock { $0.live }?.forgetUser() }

  /// Writes what was recorded, and ends open responses; later sends fail.
  public func shutdown() async {
    open.shutdown()
    await state.withLock { $0.live }?.shutdown()
    do { try save() } catch { CassetteTransport.warn("\(error)") }
    let wasRecording = state.withLock { state in
      defer { state.isRecording = false }
      return state.isRecording
    }
    if wasRecording { file.endRecording() }
  }

  static func warn(_ text: String) { StandardError.write(text) }

  /// The transport below, which is made when it is first needed.
  var live: any Transport {
    get throws {
      if let live = state.withLock({ $0.live }) { return live }
      // Made outside of the lock, because it is the user's code.
      let made = makeLive()
      return try state.withLock { state in
        if let live = state.live { return live }
        // After the shutdown nothing would shut it down.
        try open.checkIsRunning()
        state.live = made
        return made
      }
    }
  }
}

extension CassetteFile {
  /// The command that records the test.
  var command: String { "\(CassetteMode.variable)=missing swift test --filter \(filter)" }
  /// The command that records the test anew.
  var commandForAll: String { "\(CassetteMode.variable)=all swift test --filter \(filter)" }
}
