public import Foundation

extension Recording {
  /// Returns a page that shows the calls on one time line: one file, light and dark, without scripts.
  ///
  /// Each row is a call. Its bars are the phases of its sends, with a tick for each piece of a stream. Hatching is time
  /// in which a behavior held the call, with the reason below. A row opens to numbers, decisions and fields. Red says
  /// that something failed.
  ///
  /// With more than 300 calls the rows do not open; of more than 2,000 calls the latest are shown.
  ///
  /// - Parameter title: The headline; by default the host with the most calls.
  /// - Returns: HTML in UTF-8.
  public func waterfall(title: String? = nil) -> Data {
    Data(WaterfallPage(self, title: title).html.utf8)
  }
}

/// The page of a ``Recording``.
private struct WaterfallPage {
  private static let limit = 2_000
  private static let limitOfDetails = 300

  private let recording: Recording
  private let calls: [RecordedCall]
  private let scale: WaterfallScale
  private let mainHost: String
  private let title: String

  init(_ recording: Recording, title: String?) {
    self.recording = recording
    calls = Array(recording.calls.suffix(WaterfallPage.limit))
    scale = WaterfallScale(calls)
    let hosts = Dictionary(grouping: calls) { WaterfallURL($0.url).host }.mapValues(\.count)
    mainHost = hosts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? ""
    self.title = title ?? (mainHost.isEmpty ? "No calls" : mainHost)
  }

  var html: String {
    let head = WaterfallText.escape("\(title) – \(calls.count) calls")
    return """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <title>\(head)</title><style>\(WaterfallStyle.css)</style></head><body><main>
      \(header)
      <section class="chart" style="--step:\(WaterfallText.percent(scale.stepShare))">
      \(axis)
      \(missing)\(rows)</section>
      \(legend)
      </main></body></html>

      """
  }

  // MARK: Above

  private var header: String {
    let date = LogText.timestamp(recording.startedAt).prefix(19).replacing("T", with: ", ")
    let source =
      recording.isForeign
      ? "from the archive of another tool; secrets in it are shown" : "recorded by RequestBehaviors; secrets are hidden"
    return "<header><div><h1>\(WaterfallText.escape(title))</h1><p>\(date) UTC, \(source)</p></div>"
      + "<div class=\"figs\">\(figures)</div></header>"
  }

  private var figures: String {
    let sends = calls.flatMap(\.sends)
    let retries = calls.flatMap(\.decisions).count { $0.kind == .retry }
    let unsent = calls.count { $0.sends.isEmpty && !$0.hasFailed && $0.outcome != .underWay }
    let failed = calls.count(where: \.hasFailed)
    let items: [(text: String, name: String, isError: Bool)] = [
      ("\(calls.count)", "calls", false), ("\(sends.count)", "sends", false), ("\(retries)", "retries", false),
      ("\(unsent)", "without a send", false), ("\(failed)", "failed", failed > 0),
      (WaterfallText.bytes(sends.map(\.receivedBytes).boundedSum), "received", false),
      (WaterfallText.duration(scale.length), "in all", false),
    ]
    return items.map { item in
      "<div class=\"fig\(item.isError ? " err" : "")\"><b>\(WaterfallText.escape(item.text))</b>"
        + "<span>\(item.name)</span></div>"
    }.joined()
  }

  private var axis: String {
    let area = WaterfallArea(calls, scale)
    let ticks = scale.ticks.map { tick in
      "<span style=\"left:\(WaterfallText.percent(tick.place))\">\(WaterfallText.escape(tick.text))</span>"
    }
    return "<div class=\"axis\"><div class=\"name\">sends on their way <b>at most \(area.most)</b></div>"
      + "<div class=\"lane\"><svg viewBox=\"0 0 1000 40\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      + "<path d=\"\(area.path)\"/></svg>\(ticks.joined())</div><div class=\"end\"></div></div>"
  }

  private var missing: String {
    let count = [recording.calls.count - calls.count, recording.droppedCalls].boundedSum
    guard count > 0 else { return "" }
    return "<div class=\"note\">\(count) earlier calls are not shown</div>\n"
  }

  // MARK: Rows

  private var rows: String {
    var children: [UInt64: [RecordedCall]] = [:]
    let numbers = Set(calls.map(\.number))
    var roots: [RecordedCall] = []
    for call in calls {
      if let parent = call.parent, parent != call.number, numbers.contains(parent) {
        children[parent, default: []].append(call)
      } else {
        roots.append(call)
      }
    }
    var html = ""
    var shown: Set<UInt64> = []
    func add(_ call: RecordedCall, isChild: Bool) {
      // The file of another tool may name a call as its own descendant.
      guard shown.insert(call.number).inserted else { return }
      let below = children[call.number] ?? []
      html +=
        WaterfallRow(
          call: call, scale: scale, mainHost: mainHost,
          prerequisite: below.first { $0.purpose == .prerequisite }?.number, isChild: isChild,
          hasDetails: calls.count <= WaterfallPage.limitOfDetails
        ).html
      for child in below { add(child, isChild: true) }
    }
    for call in roots { add(call, isChild: false) }
    for call in calls { add(call, isChild: true) }
    return html
  }

  private var legend: String {
    let items = [
      ("dns", "name lookup"), ("tcp", "connecting"), ("tls", "TLS"), ("ttfb", "waiting for the first byte"),
      ("recv", "receiving"), ("held", "held by a behavior"), ("tick", "a chunk"), ("gem", "cache"), ("stop", "refused"),
    ]
    return "<footer>\(items.map { "<span><i class=\"k \($0)\"></i>\($1)</span>" }.joined())</footer>"
  }
}

/// The number of sends on their way over time.
private struct WaterfallArea {
  let path: String
  let most: Int

  init(_ calls: [RecordedCall], _ scale: WaterfallScale) {
    var changes: [(at: Duration, by: Int)] = []
    for call in calls {
      for send in call.sends {
        changes.append((send.startedAt, 1))
        changes.append((max(send.startedAt, send.endedAt ?? call.lastTime), -1))
      }
    }
    changes.sort { ($0.at, $0.by) < ($1.at, $1.by) }
    let heights = changes.map(\.by).reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) }
    let most = heights.max() ?? 0
    self.most = most
    func height(_ count: Int) -> String { "\(40 - 36 * count / max(1, most))" }
    var path = "M0,40"
    for (index, change) in changes.enumerated() {
      let x = String(Double(Int(scale.place(change.at) * 1_000)) / 100)
      path += " L\(x),\(height(heights[index])) L\(x),\(height(heights[index + 1]))"
    }
    self.path = path + " L1000,40 L0,40 Z"
  }
}
