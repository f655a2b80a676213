import Foundation

/// The row of one call: its name, its sends on a time line, and its duration.
struct WaterfallRow {
  let call: RecordedCall
  let scale: WaterfallScale
  let mainHost: String
  /// The number of the call that this one waited for, for the reason of the wait.
  let prerequisite: UInt64?
  let isChild: Bool
  let hasDetails: Bool

  var html: String {
    let classes = "call" + (isChild ? " child" : "") + (call.hasFailed ? " failed" : "")
    let line = "<summary>\n\(name)\n<div class=\"lane\" style=\"--n:\(laneCount)\">\(lane)</div>\n\(end)\n</summary>"
    let more = hasDetails ? WaterfallDetails(call: call, scale: scale).html : ""
    return "<details class=\"\(classes)\">\(line)\(more)</details>\n"
  }

  // MARK: The name

  private var name: String {
    let url = WaterfallURL(call.url)
    let hidden = url.query.isEmpty ? "" : "<s>\(WaterfallText.escape(url.query))</s>"
    let host = url.host == mainHost ? "" : "<small>\(WaterfallText.escape(url.host))</small>"
    let chevron =
      hasDetails
      ? "<svg class=\"chev\" viewBox=\"0 0 8 8\" aria-hidden=\"true\"><path d=\"M2.5 1 5.5 4 2.5 7\"/></svg>" : ""
    return "<div class=\"name\">\(chevron)<span class=\"no\">\(call.number)</span>"
      + "<span class=\"verb\">\(WaterfallText.escape(call.method))</span>"
      + "<span class=\"path\" title=\"\(WaterfallText.escape(call.url))\">\(WaterfallText.escape(url.path))\(hidden)</span>"
      + "\(host)</div>"
  }

  // MARK: The lane

  private var lane: String {
    let life = "<i class=\"life\" style=\"\(span(call.startedAt, call.lastTime))\"></i>"
    return life + held + sends + captions + codes
  }

  private func span(_ start: Duration, _ end: Duration) -> String {
    "left:\(WaterfallText.percent(scale.place(start)));"
      + "width:\(WaterfallText.percent(scale.share(max(.zero, end - start))))"
  }

  /// The waits that behaviors began.
  private var held: String {
    call.decisions.map { decision in
      guard let duration = decision.duration, duration > .zero else { return "" }
      return "<i class=\"held\" style=\"\(span(decision.at, decision.at + duration))\" "
        + "title=\"held \(WaterfallText.escape(WaterfallText.duration(duration)))\"></i>"
    }.joined()
  }

  /// The lane of each send: a second one only where sends overlap.
  private var lanes: [Int] {
    var ends: [Duration] = []
    return call.sends.map { send in
      let end = send.endedAt ?? call.lastTime
      if let free = ends.firstIndex(where: { $0 <= send.startedAt }) {
        ends[free] = end
        return free
      }
      ends.append(end)
      return ends.count - 1
    }
  }

  private var laneCount: Int { (lanes.max() ?? 0) + 1 }

  private var sends: String {
    zip(call.sends, lanes).map { send, lane in
      let end = max(send.startedAt, send.endedAt ?? call.lastTime)
      var classes = "send"
      if send.hasFailed { classes += " bad" }
      if send.outcome == .cancelled { classes += " cut" }
      if !send.chunks.isEmpty { classes += " flow" }
      return "<div class=\"\(classes)\" style=\"\(span(send.startedAt, end));--lane:\(lane)\">"
        + WaterfallPhases(send).bars + "</div>"
    }.joined()
  }

  /// The status after each send that failed or is the last.
  private var codes: String {
    if call.sends.isEmpty { return markWithoutSend }
    return call.sends.indices.map { index in
      let send = call.sends[index]
      guard send.hasFailed || send.outcome == .cancelled || index == call.sends.count - 1 else { return "" }
      let left = scale.place(max(send.startedAt, send.endedAt ?? call.lastTime))
      let next = zip(call.sends, lanes).filter { $1 == lanes[index] && $0.startedAt > send.startedAt }
        .map { scale.place($0.0.startedAt) }.min()
      let room = (next ?? 100) - left
      guard room > 4 else { return "" }
      let text = send.shortOutcome
      let size = next == nil && !send.hasFailed ? send.sizeNote : ""
      return "<span class=\"code \(send.hasFailed ? "err" : "dim")\" style=\"left:\(WaterfallText.percent(left));"
        + "max-width:\(WaterfallText.percent(room));--lane:\(lanes[index])\" title=\"\(WaterfallText.escape(text))\">"
        + WaterfallText.escape(text) + size + "</span>"
    }.joined()
  }

  /// The mark of a call without a send.
  private var markWithoutSend: String {
    let left = WaterfallText.percent(scale.place(call.startedAt))
    if call.hasFailed {
      return "<span class=\"stop\" style=\"left:\(left)\"></span>"
    }
    guard call.source == .cache || call.source == .stale else { return "" }
    let room = WaterfallText.percent(100 - scale.place(call.startedAt))
    let text = call.source == .stale ? "stale, from the cache" : "from the cache"
    return "<span class=\"gem\" style=\"left:\(left)\"></span>"
      + "<span class=\"code ok after\" style=\"left:\(left);max-width:\(room)\" title=\"\(text)\">\(text)</span>"
  }

  /// The reasons below the bars; each ends where the next one begins.
  private var captions: String {
    var texts: [(place: Double, text: String, isError: Bool)] = []
    for decision in call.decisions {
      guard let text = decision.caption(prerequisite: prerequisite) else { continue }
      texts.append((scale.place(decision.at), text, false))
    }
    if call.sends.isEmpty, case .failure(let code, let message) = call.outcome {
      texts = [(scale.place(call.startedAt), code ?? message, true)]
    }
    return texts.indices.map { index in
      let item = texts[index]
      let room = (index + 1 < texts.count ? texts[index + 1].place : 100) - item.place
      // A reason without room is in the details.
      guard room > 5 else { return "" }
      return "<span class=\"cap\(item.isError ? " err" : "")\" style=\"left:\(WaterfallText.percent(item.place));"
        + "max-width:\(WaterfallText.percent(room - 0.5))\" title=\"\(WaterfallText.escape(item.text))\">"
        + WaterfallText.escape(item.text) + "</span>"
    }.joined()
  }

  // MARK: The end

  private var end: String {
    let length = call.endedAt == nil ? "…" : WaterfallText.duration(call.lastTime - call.startedAt)
    return "<div class=\"end\"><b>\(WaterfallText.escape(length))</b>"
      + "<small class=\"\(call.hasFailed ? "err" : "")\">\(WaterfallText.escape(call.note))</small></div>"
  }
}

/// The parts of a URL that a row shows.
struct WaterfallURL {
  let host: String
  let path: String
  let query: String

  init(_ url: String) {
    let mark = url.firstIndex(of: "?") ?? url.endIndex
    query = String(url[mark...])
    let rest = url[..<mark]
    guard let scheme = rest.range(of: "://") else {
      (host, path) = ("", String(rest))
      return
    }
    let slash = rest[scheme.upperBound...].firstIndex(of: "/") ?? rest.endIndex
    host = String(rest[scheme.upperBound..<slash])
    path = slash == rest.endIndex ? "/" : String(rest[slash...])
  }
}
