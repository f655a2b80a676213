import Foundation
import RequestBehaviors
import TestSupport
import Testing

#if os(Linux)
  /// The page of a recording in a browser: what overlaps, and whether it fits the window.
  @Suite(.limited) struct WaterfallLayoutTests {
    /// Counts texts of one row that lie upon each other, times in two lines, a page that is wider than the window, texts
    /// with too little contrast (WCAG 2.2 §1.4.3), and what could act: handlers, scripts, frames and links that run code.
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
      for (const e of document.querySelectorAll(".axis .lane span")) {
        if (e.offsetHeight > 24) found.push("two lines: " + e.innerText);
      }
      const numbers = color => (color.match(/[\d.]+/g) || []).map(Number);
      const light = color => {
        const [r, g, b] = numbers(color).map(c => c / 255)
          .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const ground = e => {
        for (; e; e = e.parentElement) {
          const color = getComputedStyle(e).backgroundColor, parts = numbers(color);
          if (parts.length == 3 || parts[3] == 1) return color;
        }
        return matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(0, 0, 0)" : "rgb(255, 255, 255)";
      };
      for (const details of document.querySelectorAll("details")) details.open = true;
      for (const e of document.querySelectorAll("body *")) {
        const own = [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim());
        if (!own || e.tagName == "SCRIPT" || !e.getClientRects().length) continue;
        const style = getComputedStyle(e);
        if (!style.color.startsWith("rgb") || style.opacity != 1) continue;
        const [a, b] = [light(style.color), light(ground(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) found.push(`contrast ${ratio.toFixed(2)} of ${e.className || e.tagName} ${style.color}`);
      }
      if (document.documentElement.scrollWidth > innerWidth) found.push("the opened page scrolls");
      for (const e of document.querySelectorAll("*")) {
        const acts = [...e.attributes].some(a => a.name.startsWith("on") || ["href", "src", "action"].includes(a.name));
        if (acts || ["IFRAME", "OBJECT", "IMG", "A", "FORM"].includes(e.tagName)) found.push("acts: " + e.outerHTML);
      }
      if (document.scripts.length != 1) found.push("scripts: " + document.scripts.length);
      const scheme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      document.title = scheme;
      document.documentElement.innerHTML = "<body>" + scheme + " measured " + found.length + ": " + found.slice(0, 5).join("; ");
      </script>
      """#

    @Test(
      .enabled(if: HeadlessBrowser.executable != nil, "Chromium is not installed"), arguments: [760, 1_100, 1_600],
      ["light", "dark"])
    func `texts do not overlap and have contrast, the page fits the window, and no script runs`(
      width: Int, scheme: String
    ) async throws {
      let browser = try #require(HeadlessBrowser.executable)
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
          "--blink-settings=preferredColorScheme=\(scheme == "dark" ? 0 : 1)",
          "--user-data-dir=\(folder.path(percentEncoded: false))/profile", "--dump-dom", file.absoluteString,
        ])
      let text = await process.end().text
      #expect(text.contains("\(scheme) measured 0: "), "\(text.suffix(500))")
    }
  }
#endif
