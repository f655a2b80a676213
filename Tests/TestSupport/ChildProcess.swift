#if os(Linux) || os(macOS)
  public import Foundation

  /// A program that a test runs beside itself.
  ///
  /// All waiting is done on threads of its own, off the cooperative pool.
  public final class ChildProcess: Sendable {
    /// What a program that has ended left behind.
    public struct Result: Sendable {
      /// Its exit status, or the signal that ended it.
      public let status: Int32
      /// Whether a signal ended it.
      public let wasKilled: Bool
      /// What it wrote to standard output.
      public let output: Data

      /// The output as text.
      public var text: String { String(decoding: output, as: UTF8.self) }
    }

    // Foundation's Process can end the program when two threads start one at a time (seen with Swift 6.3.1 on Linux).
    private static let starting = NSLock()

    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: The program's file.
    ///   - arguments: Its arguments.
    ///   - environment: Variables to add to those of the test; none by default.
    ///   - keepsErrors: Whether standard error becomes part of the output; by default it is thrown away.
    /// - Throws: Foundation's error if it cannot be started.
    public init(
      _ executable: URL, _ arguments: [String] = [], environment: [String: String] = [:], keepsErrors: Bool = false
    ) throws {
      process.executableURL = executable
      process.arguments = arguments
      process.standardOutput = output
      process.standardInput = input
      process.standardError = keepsErrors ? output : FileHandle.nullDevice
      if !environment.isEmpty { process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 } }
      try Self.starting.withLock { try process.run() }
    }

    deinit {
      if process.isRunning { process.terminate() }
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - executable: The program's file.
    ///   - arguments: Its arguments.
    ///   - standardInput: What it reads.
    /// - Returns: What it left behind.
    /// - Throws: Foundation's error if it cannot be started.
    public static func run(
      _ executable: URL, _ arguments: [String] = [], standardInput: Data = Data()
    ) async throws -> Result {
      let child = try ChildProcess(executable, arguments)
      return await child.end(after: standardInput)
    }

    /// Writes to the program's standard input, closes it, and waits for the end.
    public func end(after standardInput: Data = Data()) async -> Result {
      await offThePool {
        // A program that does not read all of it has ended or will; what it wrote tells.
        try? self.input.fileHandleForWriting.write(contentsOf: standardInput)
        try? self.input.fileHandleForWriting.close()
        return self.rest(after: Data())
      }
    }

    /// Waits for a number of lines of output.
    ///
    /// - Returns: What has been written, fewer lines if the program ended; the rest is for a later call.
    public func lines(_ count: Int) async -> String {
      await offThePool { String(decoding: self.read(lines: count), as: UTF8.self) }
    }

    /// Kills the program when it has written a number of lines.
    ///
    /// - Returns: What it left behind.
    public func kill(afterLines count: Int) async -> Result {
      await offThePool {
        let written = self.read(lines: count)
        #if canImport(Glibc) || canImport(Musl)
          _ = Foundation.kill(self.process.processIdentifier, SIGKILL)
        #else
          _ = Darwin.kill(self.process.processIdentifier, SIGKILL)
        #endif
        return self.rest(after: written)
      }
    }

    private func read(lines count: Int) -> Data {
      let newline = UInt8(ascii: "\n")
      var written = Data()
      while written.filter({ $0 == newline }).count < count {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        written += data
      }
      return written
    }

    private func rest(after written: Data) -> Result {
      let all = written + output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return Result(
        status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal, output: all)
    }

    private func offThePool<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: work()) }
      }
    }
  }

  extension ChildProcess {
    /// The file of an executable that the package builds beside its tests; `nil` if it was not built.
    public static func fixture(_ name: String) -> URL? {
      let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      let places =
        [program, Bundle.main.bundleURL] + Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
      return places.flatMap { [$0, $0.deletingLastPathComponent()] }
        .map { $0.appending(path: name) }
        .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }
    }
  }
#endif
