#if os(Linux) || os(macOS)
  public import Foundation

  /// A program that a test runs beside itself.
  ///
  /// All waiting is done on threads of its own, off the cooperative pool. A cancellation of a wait, as at the end of a
  /// test's time, kills the program.
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

    // Started by hand: Foundation's Process on Linux watches for the end by a set of descriptors that is too small for
    // a process that has many connections open, and ends the tests (seen with Swift 6.3.1).
    private let identifier: pid_t
    private let output: FileHandle
    private let input: FileHandle
    private let lock = NSLock()
    // Protected by `lock`: an identifier is invalid once its process has been waited for.
    nonisolated(unsafe) private var hasEnded = false

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: The program's file.
    ///   - arguments: Its arguments.
    ///   - environment: Variables to add to those of the test; none by default.
    ///   - keepsErrors: Whether standard error becomes part of the output; by default it is thrown away.
    /// - Throws: `POSIXError` if it cannot be started.
    public init(
      _ executable: URL, _ arguments: [String] = [], environment: [String: String] = [:], keepsErrors: Bool = false
    ) throws {
      let (fromParent, toParent) = (Pipe(), Pipe())
      input = fromParent.fileHandleForWriting
      output = toParent.fileHandleForReading
      let path = executable.path(percentEncoded: false)
      let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
      identifier = try Self.spawn(
        path, [path] + arguments, variables, input: fromParent.fileHandleForReading.fileDescriptor,
        output: toParent.fileHandleForWriting.fileDescriptor, keepsErrors: keepsErrors)
      try fromParent.fileHandleForReading.close()
      try toParent.fileHandleForWriting.close()
    }

    deinit {
      signal(SIGKILL)
      reap()
    }

    private static func spawn(
      _ path: String, _ arguments: [String], _ variables: [String], input: Int32, output: Int32, keepsErrors: Bool
    ) throws -> pid_t {
      #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
      #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
      #endif
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_adddup2(&actions, input, 0)
      posix_spawn_file_actions_adddup2(&actions, output, 1)
      if keepsErrors {
        posix_spawn_file_actions_adddup2(&actions, output, 2)
      } else {
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
      }
      // The child must not hold the tests' connections and pipes open: their ends would never be seen.
      #if canImport(Darwin)
        // To close a descriptor that is not open would fail there, and the start with it.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
      #else
        // Descriptors are numbered from the lowest free one up, so the margin is for those that are opened meanwhile.
        for descriptor in 3..<(try highestDescriptor()) + 1_000 {
          posix_spawn_file_actions_addclose(&actions, descriptor)
        }
      #endif
      var argv = arguments.map { strdup($0) } + [nil]
      var envp = variables.map { strdup($0) } + [nil]
      defer {
        for text in argv + envp { free(text) }
      }
      var identifier = pid_t()
      let code = posix_spawn(&identifier, path, &actions, &attributes, &argv, &envp)
      guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOENT) }
      return identifier
    }

    #if !canImport(Darwin)
      private static func highestDescriptor() throws -> Int32 {
        try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").compactMap { Int32($0) }.max() ?? 0
      }
    #endif

    private func signal(_ number: Int32) {
      lock.withLock { if !hasEnded { _ = Foundation.kill(identifier, number) } }
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
        try? self.input.write(contentsOf: standardInput)
        try? self.input.close()
        return self.rest(after: Data())
      }
    }

    /// Writes to the program's standard input, and leaves it open.
    public func write(_ data: Data) async { await offThePool { try? self.input.write(contentsOf: data) } }

    /// Stops the program where it is, as SIGSTOP does.
    public func pause() { signal(SIGSTOP) }

    /// Resumes a stopped program.
    public func resume() { signal(SIGCONT) }

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
        self.signal(SIGKILL)
        return self.rest(after: written)
      }
    }

    /// Kills the program and returns when it has ended, but does not ask how, as a parent that is busy.
    ///
    /// Its identifier remains taken until this object is gone.
    public func killWithoutAsking() async {
      await offThePool {
        self.signal(SIGKILL)
        var information = siginfo_t()
        while waitid(P_PID, id_t(self.identifier), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
      }
    }

    private func read(lines count: Int) -> Data {
      let newline = UInt8(ascii: "\n")
      var written = Data()
      while written.filter({ $0 == newline }).count < count {
        let data = output.availableData
        if data.isEmpty { break }
        written += data
      }
      return written
    }

    private func rest(after written: Data) -> Result {
      let all = written + output.readDataToEndOfFile()
      let status = reap()
      let number = status & 0x7F
      return Result(status: number == 0 ? (status >> 8) & 0xFF : number, wasKilled: number != 0, output: all)
    }

    /// Waits for the end and returns the status; 0 if it was waited for before.
    @discardableResult
    private func reap() -> Int32 {
      var status: Int32 = 0
      guard !lock.withLock({ hasEnded }) else { return status }
      while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
      lock.withLock { hasEnded = true }
      return status
    }

    private func offThePool<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          Thread.detachNewThread { continuation.resume(returning: work()) }
        }
      } onCancel: {
        signal(SIGKILL)
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
