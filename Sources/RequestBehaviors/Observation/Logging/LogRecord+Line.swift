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
    var text = "\(number) \(method) \(url)"
    if let statusCode { text += " \(statusCode)" }
    if let responseBytes { text += " \(responseBytes) B" }
    if let duration { text += " in \(LogText.milliseconds(duration)) ms" }
    if kind == .start || kind == .attemptStart { text += " started" }
    if let error { text += " failed: \(error)" }
    if !remarks.isEmpty { text += " (\(remarks.joined(separator: "; ")))" }
    return ([LogText.escapingControls(text)] + details).joined(separator: "\n")
  }

  /// The number of the call, of the send, and of the call that needed this one.
  var number: String {
    let number = kind == .attempt || kind == .attemptStart ? "#\(call).\(sends)" : "#\(call)"
    return parent.map { "\(number) for #\($0)" } ?? number
  }

  private var remarks: [String] { facts + decisions + trace }

  /// Remarks that are made of the library's own words only.
  var facts: [String] {
    var facts: [String] = []
    if let source, source != .network { facts.append("from \(source)") }
    if kind == .call, sends > 1 { facts.append("\(sends) sends") }
    return facts
  }

  /// The remark of the trace, if there is one.
  var trace: [String] { traceID.map { ["trace \($0)"] } ?? [] }

  /// The lines of headers and bodies.
  var details: [String] {
    let sent = (requestHeaders?.map { "\($0.name): \($0.value)" } ?? []) + [requestBody].compactMap(\.self)
    let received = (responseHeaders?.map { "\($0.name): \($0.value)" } ?? []) + [responseBody].compactMap(\.self)
    return sent.map { "  > " + LogText.escapingControls($0) } + received.map { "  < " + LogText.escapingControls($0) }
  }
}
