package import Foundation

/// A buffer for the body of a response, between URLSession and the reader.
///
/// URLSession does not wait, so the bytes that the reader has not read yet are kept in files.
///
/// On Linux, suspending a task restarts the request. So a few bytes are kept in memory, and the rest in a temporary
/// directory.
package final class ResponseSpool: Sendable {
  private struct State {
    var memory = Data()
    var files: [SpoolFile] = []
    /// Whether the producer writes to the last of the files.
    var isWriting = false
    /// The number of unread bytes in the files.
    var fileCount: Int64 = 0
    var end: Result<Void, any Error>?
    /// Whether the held bytes are dropped.
    var isCancelled = false
    var waiter: CheckedContinuation<Void, Never>?

    /// Whether the reader has a next step.
    var isReady: Bool { !memory.isEmpty || fileCount > 0 || (end != nil && !isWriting) }

    /// Decides about the next step of the reader.
    mutating func takeStep() -> Step {
      if !memory.isEmpty {
        defer { memory = Data() }
        return .chunk(memory)
      }
      if fileCount > 0, let file = files.first { return .file(file) }
      if let end, !isWriting { return .end(end) }
      return .wait
    }
  }

  /// The next step of the reader.
  private enum Step {
    case chunk(Data)
    case file(SpoolFile)
    case end(Result<Void, any Error>)
    case wait
  }

  private let settings: BodySpool
  private let state = Locked(State())

  /// Creates an empty body.
  ///
  /// - Parameter settings: The limits in memory and in total, and the directory of the files.
  package init(_ settings: BodySpool) { self.settings = settings }

  /// Whether the body has ended and takes no more bytes.
  package var isEnded: Bool { state.withLock { $0.end != nil } }

  /// Takes a chunk.
  ///
  /// There is one caller at a time.
  ///
  /// - Throws: ``NetworkError`` if the reader lags too far behind, or a file cannot be written.
  package func push(_ chunk: Data) throws {
    // The lock is not held while a file is written, so that the reader does not wait for the disk.
    let (waiter, target) = try state.withLock { state -> (CheckedContinuation<Void, Never>?, Target) in
      guard state.end == nil else { return (nil, .memory) }
      // While bytes are in a file, later chunks must go behind them, even if there is room in memory.
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

  /// The target of a chunk.
  private enum Target {
    case memory
    case file(SpoolFile)
    case newFile
  }

  /// Makes a file.
  ///
  /// It is not called under the lock, because the reader must not wait for the disk.
  private func addFile() throws -> SpoolFile {
    do {
      let file = try SpoolFile(in: settings, held: state.withLock { $0.fileCount })
      // A body that has ended meanwhile still has this chunk to deliver.
      state.withLock { if !$0.isCancelled { $0.files.append(file) } }
      return file
    } catch {
      state.withLock { $0.isWriting = false }
      throw error
    }
  }

  /// Writes to a file on the current thread, because chunks that wait for another thread would pile up.
  private func write(_ chunk: Data, to file: SpoolFile) throws {
    // The write is not under the lock, because the reader must not wait for the disk.
    let outcome = Result { try file.write(chunk) }
    let waiter = state.withLock { state in
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

  /// Ends the body, unless it has ended.
  ///
  /// The held bytes can still be read.
  package func end(_ result: Result<Void, any Error>) {
    let waiter = state.withLock { state in
      if state.end == nil { state.end = result }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// Ends the body, and drops the held bytes.
  package func cancel() {
    end(.failure(CancellationError()))
    let held = state.withLock { state in
      state.isCancelled = true
      defer { (state.memory, state.files, state.fileCount) = (Data(), [], 0) }
      return state.files
    }
    // The files are closed outside the lock.
    _ = held
  }

  /// Returns the next chunk; `nil` at the end.
  ///
  /// - Throws: The error that the body ended with, when everything before it was delivered.
  package func next() async throws -> Data? {
    while true {
      switch state.withLock({ $0.takeStep() }) {
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

  private func wait() async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if !state.isReady { state.waiter = continuation }
        return state.isReady
      }
      if isReady { continuation.resume() }
    }
  }

  /// The maximum number of bytes that are read from a file at once.
  private var chunkLength: Int { settings.memoryLimit > 0 ? settings.memoryLimit : 64 * 1_024 }

  private func read(_ file: SpoolFile) async throws -> Data? {
    let count = state.withLock { _ in min(Int(file.written - file.read), chunkLength) }
    let chunk: Data
    do {
      chunk = try await FileQueue.run { try file.read(count) }
    } catch {
      throw settings.isUnreadable(error)
    }
    let finished = state.withLock { state -> SpoolFile? in
      // A body that was cancelled meanwhile has no files left.
      guard state.files.first === file else { return nil }
      file.read += Int64(count)
      state.fileCount -= Int64(count)
      let isWritten = state.isWriting && state.files.last === file
      return file.read == file.written && !isWritten ? state.files.removeFirst() : nil
    }
    // The files are closed outside the lock.
    _ = finished
    return chunk.isEmpty ? nil : chunk
  }
}
