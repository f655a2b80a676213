import Dispatch
package import Foundation

#if canImport(CryptoKit)
  import CryptoKit

  /// A hash of octets that come in parts.
  package struct RunningHash {
    private enum State {
      case sha1(Insecure.SHA1)
      case sha256(SHA256)
    }

    private var state: State

    /// Begins a hash.
    package init(_ function: HashFunction) {
      state = function == .sha1 ? .sha1(Insecure.SHA1()) : .sha256(SHA256())
    }

    /// Adds octets.
    package mutating func update(_ octets: Data) {
      switch state {
      case .sha1(var hash):
        hash.update(data: octets)
        state = .sha1(hash)
      case .sha256(var hash):
        hash.update(data: octets)
        state = .sha256(hash)
      }
    }

    /// The hash of all octets so far.
    package func digest() -> [UInt8] {
      switch state {
      case .sha1(let hash): Array(hash.finalize())
      case .sha256(let hash): Array(hash.finalize())
      }
    }
  }
#else
  /// A hash of octets that come in parts.
  package struct RunningHash {
    private let function: HashFunction
    private var state: SIMD8<UInt32>
    /// How many octets the state has absorbed, in whole blocks.
    private var absorbed = 0
    /// The octets after them, less than a block.
    private var pending: [UInt8] = []

    /// Begins a hash.
    package init(_ function: HashFunction) {
      self.function = function
      state = function.initialState
    }

    /// Adds octets.
    package mutating func update(_ octets: Data) {
      pending += octets
      let whole = pending.count & ~63
      pending.withUnsafeBytes { function.absorb(UnsafeRawBufferPointer(rebasing: $0[..<whole]), into: &state) }
      absorbed += whole
      pending.removeFirst(whole)
    }

    /// The hash of all octets so far.
    package func digest() -> [UInt8] {
      pending.withUnsafeBytes { function.finish(state, with: $0, after: absorbed) }
    }
  }
#endif

extension HashFunction {
  private static let fileQueue = DispatchQueue(label: "RequestBehaviors.HashFunction", attributes: .concurrent)

  /// The hash of a file's contents, read in parts on a queue of its own: reading may block.
  ///
  /// - Parameter file: The URL of a regular file.
  /// - Returns: The hash, 20 or 32 octets long.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable`` if the file cannot be read;
  ///   `CancellationError` if the task is cancelled.
  package func digest(ofFile file: URL) async throws -> [UInt8] {
    let reader = try await run { try FileReader(file) }
    var hash = RunningHash(self)
    while true {
      try Task.checkCancellation()
      let part = try await run { try reader.next() }
      if part.isEmpty { return hash.digest() }
      hash.update(part)
    }
  }

  private func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      HashFunction.fileQueue.async { continuation.resume(with: Result { try work() }) }
    }
  }
}

/// Reads a file in parts of 256 KiB, and closes it when it is released.
private final class FileReader: Sendable {
  private let file: URL
  private let handle: FileHandle

  init(_ file: URL) throws {
    // A pipe, or anything else that is no regular file, might never end.
    _ = try Upload.length(of: file)
    self.file = file
    do {
      handle = try FileHandle(forReadingFrom: file.resolvingSymlinksInPath())
    } catch {
      throw FileReader.unreadable(file, error)
    }
  }

  deinit { try? handle.close() }

  /// The next part; empty at the end.
  func next() throws -> Data {
    do {
      return try handle.read(upToCount: 256 * 1_024) ?? Data()
    } catch {
      throw FileReader.unreadable(file, error)
    }
  }

  private static func unreadable(_ file: URL, _ error: any Error) -> NetworkError {
    NetworkError(
      .bodyUnreadable, "the body file \(file.path(percentEncoded: false)) could not be read to its end",
      underlyingError: error)
  }
}
