#if os(Linux)
  public import Foundation
  import RequestBehaviors

  /// Chromium without a window, which a test steers by the DevTools protocol.
  ///
  /// It ends when the instance is released, or the test's process ends: the browser sees the end of its pipe.
  public final class HeadlessBrowser: Sendable {
    /// The browser's file; `nil` if it is not installed.
    public static let executable: URL? = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }

    /// The protocol's error, or the end of the browser.
    public struct Problem: Error, CustomStringConvertible {
      /// The problem.
      public let description: String
      /// Whether the browser continues, such as after a page has been replaced by the next one.
      fileprivate var isOfPage = false
    }

    private struct Message: Decodable {
      struct Result: Decodable {
        struct Value: Decodable {
          var value: String?
        }

        var targetId: String?
        var sessionId: String?
        var result: Value?
      }

      struct Failure: Decodable { let message: String }

      var id: Int?
      var result: Result?
      var error: Failure?
    }

    private let process: ChildProcess
    private let profile: URL
    private let session: String
    /// The output that has been read and belongs to no message yet.
    private let rest: Rest

    private final class Rest: Sendable { let text = Locked("") }

    /// Starts the browser, and opens a page.
    ///
    /// - Parameter page: The page.
    /// - Throws: ``Problem`` if there is no browser, or it does not start.
    public init(opening page: URL) async throws {
      guard let executable = Self.executable else { throw Problem(description: "Chromium is not installed") }
      profile = FileManager.default.temporaryDirectory.appending(path: "browser-\(UUID().uuidString)")
      // The browser reads commands from descriptor 3 and writes to 4, both with a zero octet after each message. One that
      // hangs is ended before the test's own limit.
      process = try ChildProcess(
        URL(filePath: "/bin/sh"),
        [
          "-c", "timeout -k 1 45 \"$@\" 3<&0 4>&1 >/dev/null 2>&1 </dev/null | stdbuf -o0 tr '\\0' '\\n'", "sh",
          executable.path(percentEncoded: false), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
          "--user-data-dir=\(profile.path(percentEncoded: false))", "--remote-debugging-pipe", "about:blank",
        ])
      rest = Rest()
      let target = try await Self.send(1, "Target.createTarget", ["url": page.absoluteString], nil, process, rest)
      let attached = try await Self.send(
        2, "Target.attachToTarget", ["targetId": target.targetId ?? "", "flatten": true], nil, process, rest)
      session = attached.sessionId ?? ""
    }

    /// Ends the browser, and removes its profile.
    public func close() async {
      _ = await process.end()
      try? FileManager.default.removeItem(at: profile)
    }

    /// Returns the value of an expression of JavaScript in the page, as text; waits for a promise.
    ///
    /// - Throws: ``Problem`` if the browser has ended or does not know the page any more.
    public func evaluate(_ expression: String) async throws -> String {
      try await Self.send(
        3, "Runtime.evaluate",
        ["expression": "(async () => String(await (\(expression))))()", "awaitPromise": true], session, process, rest
      ).result?.value ?? ""
    }

    /// Waits until an expression of JavaScript is true; a page that is being replaced counts as false.
    ///
    /// - Throws: ``Problem`` if the browser has ended; `CancellationError`.
    public func wait(until condition: String) async throws {
      while true {
        do {
          if try await evaluate("!!(\(condition))") == "true" { return }
        } catch let problem as Problem where problem.isOfPage {}
        try Task.checkCancellation()
        await Task.yield()
      }
    }

    private static func send(
      _ id: Int, _ method: String, _ parameters: [String: any Sendable], _ session: String?, _ process: ChildProcess,
      _ rest: Rest
    ) async throws -> Message.Result {
      var command: [String: any Sendable] = ["id": id, "method": method, "params": parameters]
      command["sessionId"] = session
      await process.write(try JSONSerialization.data(withJSONObject: command) + [0])
      while true {
        while let line = rest.text.withLock({ nextLine(of: &$0) }) {
          guard let message = try? JSONDecoder().decode(Message.self, from: Data(line.utf8)), message.id == id else {
            continue
          }
          if let error = message.error { throw Problem(description: "\(method): \(error.message)", isOfPage: true) }
          return message.result ?? Message.Result()
        }
        let more = await process.lines(1)
        guard !more.isEmpty else { throw Problem(description: "the browser has ended") }
        rest.text.withLock { $0 += more }
      }
    }

    private static func nextLine(of text: inout String) -> String? {
      guard let end = text.firstIndex(of: "\n") else { return nil }
      defer { text.removeSubrange(...end) }
      return String(text[..<end])
    }
  }
#endif
