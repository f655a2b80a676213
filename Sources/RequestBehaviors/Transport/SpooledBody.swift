package import Foundation

/// The body of a response between URLSession, which does not wait for anybody, and its reader: what the reader lags
/// behind is kept in files.
///
/// To suspend a task begins the request anew on Linux. So memory holds a little, and a temporary directory the rest.
package final class SpooledBody: Sendable {
  private struct State {
    var memory = Data()
    var files: [SpoolFile] = []
    /// Whether the producer writes to the last of the files.
    var isWriting = false
    /// How many bytes the files hold that nobody has read.
    var fileCount: Int64 = 0
    var end: Result<Void, any Error>?
    var waiter: CheckedContinuation<Void, Never>?
  }

  /// What comes next.
  private enum Step {
    case chunk(Data)
    case file(SpoolFile)
    case end(Result<Void, any Error>)
    case wait
  }

  private let settings: BodySpool
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var state = State()

  /// Creates an empty body.
  ///
  /// - Parameter settings: How many bytes are held in memory and in all, and where the files are.
  package init(_ settings: BodySpool) { self.settings = settings }

  /// Whether nothing more is taken.
  package var isEnded: Bool { lock.withLock { state.end != nil } }

  /// Takes a chunk; there is one who calls it.
  ///
  /// - Throws: ``NetworkError`` if the reader lags too far behind, or a file cannot be written.
  package func push(_ chunk: Data) throws {
    let (waiter, target) = try lock.withLock { () -> (CheckedContinuation<Void, Never>?, Target) in
      guard state.end == nil else { return (nil, .memory) }
      if state.fileCount == 0, state.memory.count + chunk.count <= settings.memoryLimit {
        if state.memory.isEmpty { state.memory = chunk } else { state.memory.append(chunk) }
        defer { state.waiter = nil }
        return (state.waiter, .memory)
      }
      guard state.fileCount + Int64(chunk.count) <= settings.limit else { throw settings.isFull }
      state.isWriting = true
      if let file = state.files.last, file.hasRoom { return (nil, .file(file)) }
      return (nil, .newFile)
    }
    waiter?.resume()
    switch target {
    case .memory: break
    case .file(let file): try write(chunk, to: file)
    case .newFile: try write(chunk, to: addFile())
    }
  }

  /// Where a chunk goes.
  private enum Target {
    case memory
    case file(SpoolFile)
    case newFile
  }

  /// Makes a file; not under the lock, because the reader must not wait for the disk.
  private func addFile() throws -> SpoolFile {
    do {
      let file = try SpoolFile(in: settings, held: lock.withLock { state.fileCount })
      lock.withLock { if state.end == nil { state.files.append(file) } }
      return file
    } catch {
      lock.withLock { state.isWriting = false }
      throw error
    }
  }

  /// Writes to a file at once: chunks that wait for another thread would pile up.
  private func write(_ chunk: Data, to file: SpoolFile) throws {
    // Not under the lock, because the reader must not wait for the disk.
    let outcome = Result { try file.write(chunk) }
    let waiter = lock.withLock {
      state.isWriting = false
      if case .success = outcome {
        file.written += Int64(chunk.count)
        state.fileCount += Int64(chunk.count)
      }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
    do {
      try outcome.get()
    } catch {
      throw settings.isUnwritable(error)
    }
  }

  /// Ends the body, unless it has ended; what is held can still be read.
  package func end(_ result: Result<Void, any Error>) {
    let waiter = lock.withLock {
      if state.end == nil { state.end = result }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// Ends the body, and throws away what is held.
  package func cancel() {
    end(.failure(CancellationError()))
    let held = lock.withLock {
      defer { (state.memory, state.files, state.fileCount) = (Data(), [], 0) }
      return state.files
    }
    // Closed outside of the lock.
    _ = held
  }

  /// Returns the next chunk; `nil` at the end.
  ///
  /// - Throws: The error that the body ended with, when everything before it was delivered.
  package func next() async throws -> Data? {
    while true {
      switch lock.withLock({ takeStep() }) {
      case .chunk(let chunk): return chunk
      case .end(let result):
        try result.get()
        return nil
      case .wait: await wait()
      case .file(let file):
        if let chunk = try await read(file) { return chunk }
      }
    }
  }

  /// Decides what comes next; under the lock.
  private func takeStep() -> Step {
    if !state.memory.isEmpty {
      defer { state.memory = Data() }
      return .chunk(state.memory)
    }
    if state.fileCount > 0, let file = state.files.first { return .file(file) }
    if let end = state.end, !state.isWriting { return .end(end) }
    return .wait
  }

  private func wait() async {
    await withCheckedContinuation { continuation in
      let isReady = lock.withLock {
        let isReady = !state.memory.isEmpty || state.fileCount > 0 || (state.end != nil && !state.isWriting)
        if !isReady { state.waiter = continuation }
        return isReady
      }
      if isReady { continuation.resume() }
    }
  }

  /// The most bytes that are read of a file at once.
  private var chunkLength: Int { settings.memoryLimit > 0 ? settings.memoryLimit : 64 * 1_024 }

  private func read(_ file: SpoolFile) async throws -> Data? {
    let count = lock.withLock { min(Int(file.written - file.read), chunkLength) }
    let chunk: Data
    do {
      chunk = try await FileQueue.run { try file.read(count) }
    } catch {
      throw settings.isUnreadable(error)
    }
    let finished = lock.withLock { () -> SpoolFile? in
      // A body that was cancelled meanwhile has no files any more.
      guard state.files.first === file else { return nil }
      file.read += Int64(count)
      state.fileCount -= Int64(count)
      let isWritten = state.isWriting && state.files.last === file
      return file.read == file.written && !isWritten ? state.files.removeFirst() : nil
    }
    // Closed outside of the lock.
    _ = finished
    return chunk.isEmpty ? nil : chunk
  }
}
