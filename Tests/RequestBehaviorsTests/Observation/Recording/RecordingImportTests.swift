#if os(Linux)
  import Foundation
  import RequestBehaviors
  import TestSupport
  import Testing

  /// Archives and pages in the developer tools and windows of a real browser.
  @Suite(.limited(to: .seconds(120))) struct RecordingImportTests {
    /// What the importer of Chromium's developer tools makes of an entry.
    private struct Imported: Decodable {
      let method: String
      let status: Int
      /// Seconds since 1970.
      let start: Double
      let end: Double
    }

    private static let importing = #"""
      (async () => {
        const har = await import("devtools://devtools/bundled/models/har/har.js");
        const root = new har.HARFormat.HARRoot(JSON.parse(ARCHIVE));
        const requests = har.Importer.Importer.requestsFromHARLog(root.log);
        return JSON.stringify(requests.map(r =>
          ({ method: r.requestMethod, status: r.statusCode, start: r.startTime, end: r.endTime })));
      })()
      """#

    @Test(.enabled(if: HeadlessBrowser.executable != nil, "Chromium is not installed"))
    func `the developer tools import every send with its status and times`() async throws {
      let tools = try #require(URL(string: "devtools://devtools/bundled/devtools_app.html"))
      let browser = try await HeadlessBrowser(opening: tools)
      try await browser.wait(until: "document.readyState == 'complete'")
      for seed in [7, 8] as [UInt64] {
        var samples = RecordingSamples(seed: seed)
        let har = samples.recording(of: 200).har()
        let literal = try JSONSerialization.data(
          withJSONObject: String(decoding: har, as: UTF8.self), options: .fragmentsAllowed)
        let script = Self.importing.replacing("ARCHIVE", with: String(decoding: literal, as: UTF8.self))
        let text = try await browser.evaluate(script)
        let imported = try JSONDecoder().decode([Imported].self, from: Data(text.utf8))
        let entries = try entries(har)
        #expect(imported.count == entries.count)
        for (entry, imported) in zip(entries, imported) {
          #expect(imported.method == (entry["request"] as? [String: Any])?["method"] as? String)
          #expect(imported.status == (entry["response"] as? [String: Any])?["status"] as? Int)
          let time = try #require(entry["time"] as? Double)
          #expect(abs((imported.end - imported.start) * 1_000 - time) < 1)
          let start = try Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            .parse(try #require(entry["startedDateTime"] as? String))
          #expect(abs(imported.start - start.timeIntervalSince1970) < 0.001 + time / 1_000)
        }
      }
      await browser.close()
    }

    private func entries(_ har: Data) throws -> [[String: Any]] {
      let json = try #require(try JSONSerialization.jsonObject(with: har) as? [String: Any])
      return try #require((json["log"] as? [String: Any])?["entries"] as? [[String: Any]])
    }

    @Test(.enabled(if: HeadlessBrowser.executable != nil, "Chromium is not installed"))
    func `the page of three hundred calls is laid out without its rows below the window`() async throws {
      let folder = URL.temporaryDirectory.appending(path: "page-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      var samples = RecordingSamples(seed: 5)
      let file = folder.appending(path: "page.html")
      try samples.recording(of: 300).waterfall().write(to: file)
      let browser = try await HeadlessBrowser(opening: file)
      try await browser.wait(until: "document.readyState == 'complete' && document.title")
      #expect(try await browser.evaluate("document.querySelectorAll('details').length") == "300")
      let hidden =
        "[...document.querySelectorAll('summary')].filter(row => !row.checkVisibility({contentVisibilityAuto: true}))"
      #expect(try #require(Int(try await browser.evaluate("\(hidden).length"))) > 200)
      await browser.close()
    }
  }
#endif
