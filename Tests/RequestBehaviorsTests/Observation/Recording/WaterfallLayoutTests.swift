import Foundation
import RequestBehaviors
import TestSupport
import Testing

#if os(Linux)
  /// The page of a recording in a browser: what overlaps, and whether it fits the window.
  @Suite(.limited) struct WaterfallLayoutTests {
    private static let chromium: URL? = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }

    /// Counts texts of one row that lie upon each other, and a page that is wider than the window.
    private static let measuring = #"""
      <script>
      const found = [];
      if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls");
      for (const row of document.querySelectorAll("summary, .axis")) {
        const names = ".code, .cap, .path, .verb, .no, .name small, .end b, .end small, .lane > span";
        const texts = [...row.querySelectorAll(names)]
          .filter(e => e.innerText.trim() && e.getClientRects().length)
          .map(e => ({ text: e.innerText, box: e.getBoundingClientRect() }));
        texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
          const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
          const y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
          if (x > 1.5 && y > 3) found.push(a.text + " on " + b.text);
        }));
      }
      document.documentElement.innerHTML = "<body>measured " + found.length + ": " + found.slice(0, 5).join("; ");
      </script>
      """#

    @Test(
      .enabled(if: WaterfallLayoutTests.chromium != nil, "Chromium is not installed"), arguments: [760, 1_100, 1_600])
    func `no text lies upon another, and the page fits the window`(width: Int) async throws {
      let browser = try #require(WaterfallLayoutTests.chromium)
      let folder = URL.temporaryDirectory.appending(path: "waterfall-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      var samples = RecordingSamples(seed: UInt64(width))
      let page = String(decoding: samples.recording(of: 40).waterfall(), as: UTF8.self)
      // The page forbids scripts; this copy is measured by one.
      let open = page.replacing(/<meta http-equiv[^>]*>/, with: "")
        .replacing("</body></html>", with: WaterfallLayoutTests.measuring)
      let file = folder.appending(path: "page.html")
      try Data(open.utf8).write(to: file)
      let process = try ChildProcess(
        browser,
        [
          "--headless", "--no-sandbox", "--disable-gpu", "--window-size=\(width),1000",
          "--user-data-dir=\(folder.path(percentEncoded: false))/profile", "--dump-dom", file.absoluteString,
        ])
      let text = await process.end().text
      #expect(text.contains("measured 0: "), "\(text.suffix(500))")
    }
  }
#endif
