#if os(Linux) || os(macOS)
  public import Foundation

  extension ChildProcess {
    /// The report of a process that reads a stream.
    public struct StreamFigures: Sendable {
      /// How many bytes came.
      public let count: Int
      /// By how many bytes the most memory has grown.
      public let growth: Int
    }

    /// Starts a program that streams a response of a server, and lets it read when the response is under way.
    ///
    /// - Parameters:
    ///   - executable: The program, which prints `head`, waits for a line, reads, and prints two figures.
    ///   - url: The server.
    ///   - isReady: Returns when it may read.
    /// - Returns: What it tells; `nil` if it did not come so far.
    /// - Throws: `POSIXError` if it cannot be started.
    public static func stream(
      _ executable: URL, _ url: URL, when isReady: () async -> Void
    ) async throws -> StreamFigures? {
      let child = try ChildProcess(executable, ["stream", "\(url)"], keepsErrors: true)
      _ = await child.lines(1)
      await isReady()
      let result = await child.end(after: Data("go\n".utf8))
      let figures = result.text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
      guard result.status == 0, figures.count == 2 else { return nil }
      return StreamFigures(count: figures[0], growth: figures[1])
    }
  }
#endif
