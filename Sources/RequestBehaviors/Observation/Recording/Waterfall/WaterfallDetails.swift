/// The opened part of a row: phases as numbers, decisions with their times, fields.
struct WaterfallDetails {
  let call: RecordedCall
  let scale: WaterfallScale

  var html: String { "<div class=\"more\">\(failure)\(table)<div class=\"two\">\(decisions)\(fields)</div></div>" }

  private func time(_ time: Duration) -> String {
    WaterfallText.escape(WaterfallText.duration(max(.zero, time - scale.start)))
  }

  private var failure: String {
    guard case .failure(let code, let message) = call.outcome else { return "" }
    let text = (code.map { "\($0): " } ?? "") + message
    return "<p class=\"why\">\(WaterfallText.escape(text.prefix(1_000)))</p>"
  }

  private var table: String {
    guard !call.sends.isEmpty else { return "" }
    let names = ["#", "sent to", "at", "lookup", "connect", "TLS", "first byte", "body", "bytes", "ended with"]
    return "<table><thead><tr>\(names.map { "<th>\($0)" }.joined())</tr></thead>"
      + "<tbody>\(call.sends.map(row).joined())</tbody></table>"
  }

  private func row(_ send: RecordedSend) -> String {
    let times = HARTimes(send)
    let hasResponse = send.timings != nil
    let url = WaterfallURL(send.url)
    let place = WaterfallText.escape("\(send.method) \(url.host)\(url.path)\(url.query)")
    let connecting = times.connect.map { $0 - (times.ssl ?? .zero) }
    let cells = [
      time(send.startedAt), cell(times.lookup), cell(connecting), cell(times.ssl),
      cell(hasResponse ? times.wait : nil), cell(hasResponse ? times.receive : nil),
      hasResponse ? WaterfallText.bytes(send.receivedBytes) : "–",
    ]
    return "<tr><td>\(send.number)<td class=\"url\" title=\"\(place)\">\(place)"
      + cells.map { "<td>\($0)" }.joined()
      + "<td class=\"\(send.hasFailed ? "err" : "dim")\">\(WaterfallText.escape(send.shortOutcome))</tr>"
  }

  private func cell(_ duration: Duration?) -> String {
    duration.map { WaterfallText.escape(WaterfallText.duration($0)) } ?? "–"
  }

  private var decisions: String {
    guard !call.decisions.isEmpty else { return "" }
    let items = call.decisions.map { decision in
      let source = decision.source.replacing("Behavior", with: "")
      let length = decision.duration.map { " (\(WaterfallText.duration($0)))" } ?? ""
      return "<li><time>\(time(decision.at))</time><b>\(WaterfallText.escape(source))</b>"
        + "<span>\(WaterfallText.escape(decision.message + length))</span></li>"
    }
    return "<div><h4>Decisions</h4><ol>\(items.joined())</ol></div>"
  }

  private var fields: String {
    guard let send = call.sends.last else { return "" }
    let lists = [("Sent", send.requestHeaders), ("Received", send.responseHeaders)].filter { !$1.isEmpty }
    guard !lists.isEmpty else { return "" }
    return "<div class=\"heads\">\(lists.map { list($0, $1) }.joined())</div>"
  }

  private func list(_ title: String, _ fields: HeaderFields) -> String {
    let items = fields.map { field in
      let isHidden = field.value.contains(Redactor.placeholder)
      return "<dt>\(WaterfallText.escape(field.name))</dt><dd\(isHidden ? " class=hid" : "") "
        + "title=\"\(WaterfallText.escape(field.value))\">\(WaterfallText.escape(field.value))</dd>"
    }
    return "<div><h4>\(title)</h4><dl>\(items.joined())</dl></div>"
  }
}
