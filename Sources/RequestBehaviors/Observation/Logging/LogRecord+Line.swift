extension LogRecord {
  /// The record for reading, on one line.
  ///
  /// ```text
  /// #12 GET https://api.example.com/v1/issues?page=2 200 4213 B in 123.4 ms
  /// ```
  ///
  /// Headers and bodies, where they are logged, follow on lines of their own, `>` before what was sent and `<` before
  /// what came. Line breaks and other control characters in values are escaped, so that no value can forge a line.
  public var line: String {
    var text = kind == .attempt || kind == .attemptStart ? "#\(call).\(sends)" : "#\(call)"
    if let parent { text += " for #\(parent)" }
    text += " \(method) \(url)"
    if let statusCode { text += " \(statusCode)" }
    if let responseBytes { text += " \(responseBytes) B" }
    if let duration { text += " in \(LogText.milliseconds(duration)) ms" }
    if kind == .start || kind == .attemptStart { text += " started" }
    if let error { text += " failed: \(error)" }
    if !remarks.isEmpty { text += " (\(remarks.joined(separator: "; ")))" }
    return ([LogText.escapingControls(text)] + details).joined(separator: "\n")
  }

  private var remarks: [String] {
    var remarks: [String] = []
    if let source, source != .network { remarks.append("from \(source)") }
    if kind == .call, sends > 1 { remarks.append("\(sends) sends") }
    remarks += decisions
    if let traceID { remarks.append("trace \(traceID)") }
    return remarks
  }

  private var details: [String] {
    let sent = (requestHeaders?.map { "\($0.name): \($0.value)" } ?? []) + [requestBody].compactMap(\.self)
    let received = (responseHeaders?.map { "\($0.name): \($0.value)" } ?? []) + [responseBody].compactMap(\.self)
    return sent.map { "  > " + LogText.escapingControls($0) } + received.map { "  < " + LogText.escapingControls($0) }
  }
}
