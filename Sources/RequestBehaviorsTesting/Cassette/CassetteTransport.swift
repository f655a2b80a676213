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
    var entries: [CassetteEntry] = []
    var used: Set<Int> = []
    /// All sends that were recorded; each `save()` plans the file anew from all that have ended.
    var records: [CassetteRecord] = []
    /// The records that are in the file.
    var saved: Set<ObjectIdentifier> = []
    /// The lines of entries that this transport has read or written, apart from those of others.
    var knownLines: Set<String> = []
    /// The values that one of the requests so far knew to be secret.
    var secrets: Set<String> = []
    var unmatched: [String] = []
    var live: (any Transport)?
    var open: [UInt64: ByteStream.Canceller] = [:]
    var lastOpen: UInt64 = 0
    var isShutDown = false
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
  private let pace: ReplayPace
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
    let entries = try self.file.read(CassetteRedaction(redactor, numbered: false))
    if self.mode.records { try self.file.beginRecording(by: "\(self.file.filter).\(function)") }
    state.withLock { state in
      state.entries = entries
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
      "\(file.name): \(count) recorded requests were not written; call save() or shutdown()")
  }

  /// The date of the first recorded request, for a clock that makes freshness, cookies and tokens expire as they did;
  /// now if there is no entry.
  public var recordedAt: Date { state.withLock { $0.entries.map(\.date).min() } ?? Date() }

  /// The entries that no request has got.
  public var unused: [CassetteEntry] {
    state.withLock { state in
      state.entries.indices.filter { !state.used.contains($0) }.map { state.entries[$0] }
    }
  }

  /// Throws unless every entry was used and every request had one; where requests are recorded it never throws.
  ///
  /// - Throws: ``CassetteError`` that lists the entries and the requests.
  public func verify() throws {
    guard mode == .replay else { return }
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
    if state.withLock({ $0.isShutDown }) { throw CassetteTransport.shutDownError }
    guard mode != .live else { return try await live.send(request) }
    let start = request.call.clock.now()
    let shown = try await request.withBodyInMemory()
    if mode != .recordAll, let entry = take(shown) {
      return try await play(entry, to: request, at: start)
    }
    guard mode.records else { throw unmatched(shown) }
    try checkCredentials(of: shown)
    return try await record(request, shown)
  }

  /// Writes what was recorded, and ends open responses; later sends fail.
  public func shutdown() async {
    let (streams, live) = state.withLock { state in
      state.isShutDown = true
      return (Array(state.open.values), state.live)
    }
    for stream in streams { stream.cancel(throwing: CassetteTransport.shutDownError) }
    await live?.shutdown()
    do { try save() } catch { CassetteTransport.warn("\(error)") }
    let wasRecording = state.withLock { state in
      defer { state.isRecording = false }
      return state.isRecording
    }
    if wasRecording { file.endRecording() }
  }

  private static let shutDownError = NetworkError(.clientShutDown, "the cassette was shut down")

  static func warn(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

  private var live: any Transport {
    state.withLock { state in
      if let live = state.live { return live }
      let live = makeLive()
      state.live = live
      return live
    }
  }

  // MARK: - Playing

  private func play(
    _ entry: CassetteEntry, to request: NetworkRequest, at start: Duration
  ) async throws -> NetworkResponse {
    do {
      let player = try CassettePlayer(entry, folder: file.folder, pace: pace, request, at: start)
      return watched(try await player.response())
    } catch let error as CassetteError {
      throw NetworkError(.unmatchedRequest, error.description, request: request)
    }
  }

  /// Takes the first entry that matches and is not used yet.
  private func take(_ request: NetworkRequest) -> CassetteEntry? {
    let sketch = sketch(request)
    return state.withLock { state in
      let matches = state.entries.indices.filter {
        sketch.difference(to: state.entries[$0].sketch, matching) == nil
      }
      guard
        let index = matches.first(where: { !state.used.contains($0) })
          ?? (matching.repeatsLast ? matches.last : nil)
      else { return nil }
      state.used.insert(index)
      return state.entries[index]
    }
  }

  /// Throws if a request has a credential that a played entry gave: no server would know it.
  private func checkCredentials(of request: NetworkRequest) throws {
    guard mode == .recordMissing, state.withLock({ !$0.used.isEmpty }) else { return }
    var texts = request.headers.map(\.value) + [request.url.absoluteString]
    if let body = request.body?.data, body.count <= 65_536 { texts.append(String(decoding: body, as: UTF8.self)) }
    guard texts.contains(where: { $0.contains(Redactor.placeholder) }) else { return }
    throw NetworkError(
      .unmatchedRequest,
      "\(request.method) \(redactor.redact(request.url)) is not in \(file.name), and needs a credential that the file "
        + "hides; record the whole test: \(file.commandForAll)", request: request)
  }

  /// A redactor that hides the credentials of all requests so far, because one may be part of a later request.
  func redactor(for request: NetworkRequest) -> Redactor {
    let own = redactor.hidingCredentials(of: request)
    let all = state.withLock { state in
      state.secrets.formUnion(own.hiddenValues)
      return state.secrets
    }
    return own.hiding(Array(all))
  }

  func sketch(_ request: NetworkRequest) -> RequestSketch {
    CassetteRedaction(redactor(for: request), numbered: false).sketch(
      method: request.method.rawValue, url: request.url.absoluteString, fields: request.headers,
      body: request.body?.data,
      contentType: request.headers[.contentType] ?? request.body?.contentType)
  }

  private func watched(_ response: NetworkResponse) -> NetworkResponse {
    guard case .stream(let stream) = response.body else { return response }
    let canceller = stream.canceller
    let number = state.withLock { state in
      state.lastOpen += 1
      state.open[state.lastOpen] = canceller
      return state.lastOpen
    }
    stream.onCompletion { [weak self] _ in
      self?.state.withLock { _ = $0.open.removeValue(forKey: number) }
    }
    return response
  }

  // MARK: - Recording

  /// Sends a request, and records its response as a stream, so that every entry has its chunks.
  private func record(_ request: NetworkRequest, _ shown: NetworkRequest) async throws
    -> NetworkResponse
  {
    var streamed = shown
    streamed.options.delivery = .streamed
    let record = CassetteRecord(shown, redactor: redactor)
    state.withLock { $0.records.append(record) }
    var response: NetworkResponse
    do { response = try await live.send(streamed) } catch {
      record.end(error, trailers: nil, of: shown)
      throw error
    }
    record.note(response)
    response.request = request
    switch response.body {
    case .stream(let stream):
      response.body = .stream(stream.wrapped { RecordedChunks(base: $0, record: record) })
      if case .stream(let recorded) = response.body {
        recorded.onCompletion { record.end($0.error, trailers: $0.trailers, of: shown) }
      }
    case .data, .file:
      let data = try await response.buffered().data
      if !data.isEmpty { record.note(data) }
      record.end(nil, trailers: response.trailers, of: shown)
    }
    return request.options.delivery == .buffered ? try await response.buffered() : watched(response)
  }
}

/// The chunks of a response that is being recorded.
private struct RecordedChunks: AsyncSequence, Sendable {
  typealias Element = Data
  let base: ByteStream
  let record: CassetteRecord

  struct Iterator: AsyncIteratorProtocol {
    var base: ByteStream.Iterator
    let record: CassetteRecord

    mutating func next() async throws -> Data? {
      guard let chunk = try await base.next() else { return nil }
      record.note(chunk)
      return chunk
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), record: record) }
}

extension CassetteFile {
  /// The command that records the test.
  var command: String { "\(CassetteMode.variable)=missing swift test --filter \(filter)" }
  /// The command that records the test anew.
  var commandForAll: String { "\(CassetteMode.variable)=all swift test --filter \(filter)" }
}

extension Redactor {
  /// Returns a redactor that hides the credentials of a request wherever they appear.
  ///
  /// A value that is hidden in logs only because its name is not on the list is no credential.
  func hidingCredentials(of request: NetworkRequest) -> Redactor {
    var credentials = self
    let others = request.headers.filter { !$0.isSensitive && !$0.isNamedLikeCredential }
    credentials.allowedHeaders.formUnion(others.map(\.name))
    return hiding(Array(credentials.hiding(secretsOf: request).hiddenValues))
  }
}
