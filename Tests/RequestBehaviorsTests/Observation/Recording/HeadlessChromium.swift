#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// A browser without a window, driven by the DevTools protocol over its standard input and output.
  actor HeadlessChromium {
    /// The program; `nil` if it is not installed.
    static let program: URL? = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }

    private let process: ChildProcess
    private let profile = URL.temporaryDirectory.appending(path: "chromium-\(UUID().uuidString)")
    private var lastID = 0
    private var unread = ""

    init(_ program: URL) throws {
      // The browser reads from descriptor 3, writes to 4, and ends each message with a NUL.
      let options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
        "--window-size=1100,1000", "--user-data-dir=\(profile.path(percentEncoded: false))", "about:blank",
      ]
      let script = #"stdbuf -o0 tr '\n' '\0' | "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null | stdbuf -o0 tr '\0' '\n'"#
      process = try ChildProcess(
        URL(filePath: "/bin/sh"), ["-c", script, program.path(percentEncoded: false)] + options)
    }

    deinit { try? FileManager.default.removeItem(at: profile) }

    /// Ends the browser.
    func close() async {
      _ = try? await call("Browser.close", [:])
      _ = await process.end()
    }

    /// Opens a page, and returns the session in which it is driven.
    func open(_ url: String) async throws -> String {
      let target = try await call("Target.createTarget", ["url": url])
      let attached = try await call(
        "Target.attachToTarget", ["targetId": target["targetId"] ?? "", "flatten": true])
      return try #require(attached["sessionId"] as? String)
    }

    /// Evaluates an expression of JavaScript, and waits for its promise.
    ///
    /// - Returns: The value, which must be a text; `nil` if the expression throws.
    func evaluate(_ expression: String, in session: String) async throws -> String? {
      let result = try await call(
        "Runtime.evaluate", ["expression": expression, "awaitPromise": true, "returnByValue": true], session)
      return (result["result"] as? [String: Any])?["value"] as? String
    }

    /// Returns numbers about the work of a page, by their names.
    func metrics(of session: String) async throws -> [String: Double] {
      let metrics = try await call("Performance.getMetrics", [:], session)["metrics"] as? [[String: Any]] ?? []
      return metrics.reduce(into: [:]) { $0[$1["name"] as? String ?? ""] = $1["value"] as? Double }
    }

    /// Sends a command whose result is of no interest.
    func perform(_ method: String, _ parameters: [String: String] = [:], in session: String) async throws {
      _ = try await call(method, parameters, session)
    }

    private func call(_ method: String, _ parameters: [String: Any], _ session: String? = nil) async throws -> [String: Any] {
      lastID += 1
      var message: [String: Any] = ["id": lastID, "method": method, "params": parameters]
      if let session { message["sessionId"] = session }
      await process.write(try JSONSerialization.data(withJSONObject: message) + Data("\n".utf8))
      while true {
        let line = await nextLine()
        let json = try #require(
          try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "the browser has ended")
        guard json["id"] as? Int == lastID else { continue }
        return json["result"] as? [String: Any] ?? [:]
      }
    }

    private func nextLine() async -> String {
      while true {
        if let end = unread.firstIndex(of: "\n") {
          defer { unread = String(unread[unread.index(after: end)...]) }
          return String(unread[..<end])
        }
        let more = await process.lines(1)
        if more.isEmpty { return "null" }
        unread += more
      }
    }
  }
#endif
