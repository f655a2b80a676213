extension LogRecord {
  /// The record to read, on one line.
  ///
  /// ```text
  /// #12 GET https://api.example.com/v1/issues?page=2 200 4213 B in 123.4 ms
  /// ```
  ///
  /// Headers and bodies, if they are logged, follow on lines of their own, with `>` for the request and `<` for the
  /// response. Line breaks and other control characters in values are escaped, so that no value can forge a line.
  public var line: String {
    var text = "\(number) \(method) \(url)"
    if let statusCode { text += " \(statusCode)" }
    if let responseBytes { text += " \(responseBytes) B" }
    if let duration { text += " in \(LogText.milliseconds(duration)) ms" }
    if kind == .start || kind == .attemptStart { text += " started" }
    if kind == .attemptHead { text += " receiving" }
    if let error { text += " failed: \(error)" }
    if !remarks.isEmpty { text += " (\(remarks.joined(separator: "; ")))" }
    return ([LogText.escapingControls(text)] + details).joined(separator: "\n")
  }

  /// The number of the call, of the send, and of the call that needed this one.
  var number: String {
    let number = kind.isOfOneSend ? "#\(call).\(sends)" : "#\(call)"
    return parent.map { "\(number) for #\($0)" } ?? number
  }

  private var remarks: [String] { facts + decisions + trace }

  /// The remarks that contain only the library's own words.
  var facts: [String] {
    var facts: [String] = []
    if let source, source != .network { facts.append("from \(source)") }
    if kind == .call, sends > 1 { facts.append("\(sends) sends") }
    if let connection { facts.append(connection.remark) }
    return facts
  }

  /// The remark about the trace; empty without a trace.
  var trace: [String] { traceID.map { ["trace \($0)"] } ?? [] }

  /// The lines of headers and bodies.
  var details: [String] {
    let sent = (requestHeaders?.map { "\($0.name): \($0.value)" } ?? []) + [requestBody].compactMap(\.self)
    let received = (responseHeaders?.map { "\($0.name): \($0.value)" } ?? []) + [responseBody].compactMap(\.self)
    return sent.map { "  > " + LogText.escapingControls($0) } + received.map { "  < " + LogText.escapingControls($0) }
  }
}

extension LogRecord {
  /// A part of a record that fits into one entry of a log with a limit.
  package struct Entry: Sendable, Hashable {
    /// The text that every reader of the log may see.
    package var open: String
    /// The text that names users and their actions.
    package var personal: String
  }

  /// Returns the record in entries of limited length; later ones begin with the call's number and their own.
  ///
  /// - Parameters:
  ///   - limit: The largest number of bytes in an entry, at least 256.
  ///   - hidesPersonal: Whether the URL, the headers, the bodies, and the words of errors and behaviors are personal;
  ///     if not, all text is open.
  /// - Returns: At least one entry.
  package func entries(limit: Int, hidesPersonal: Bool) -> [Entry] {
    let limit = max(limit, 256)
    guard hidesPersonal else {
      return numbered(LogText.pieces(of: line, limit: limit - LogRecord.numberLength)).map {
        Entry(open: $0, personal: "")
      }
    }
    let heading = String(LogText.pieces(of: summary, limit: limit / 2 - 1)[0])
    guard !particulars.isEmpty else { return [Entry(open: heading, personal: "")] }
    let pieces = LogText.pieces(of: particulars, limit: limit / 2)
    return pieces.indices.map { index in
      let start = index == 0 ? heading : "\(number) \(index + 1)/\(pieces.count)"
      return Entry(open: start + " ", personal: String(pieces[index]))
    }
  }

  // The space for two numbers of calls and one of the entry.
  private static let numberLength = 96

  private func numbered(_ pieces: [Substring]) -> [String] {
    pieces.indices.map { $0 == 0 ? String(pieces[0]) : "\(number) \($0 + 1)/\(pieces.count) \(pieces[$0])" }
  }

  /// The record without text that names users.
  private var summary: String {
    var text = "\(number) \(method) \(endpoint)"
    if let statusCode { text += " \(statusCode)" }
    if let responseBytes { text += " \(responseBytes) B" }
    if let duration { text += " in \(LogText.milliseconds(duration)) ms" }
    if kind == .start || kind == .attemptStart { text += " started" }
    if error != nil { text += " failed" }
    let remarks = facts + trace
    if !remarks.isEmpty { text += " (\(remarks.joined(separator: "; ")))" }
    return LogText.escapingControls(text)
  }

  private var particulars: String {
    let remarks = [url] + [error].compactMap(\.self) + decisions
    return ([LogText.escapingControls(remarks.joined(separator: "; "))] + details).joined(separator: "\n")
  }
}

extension ConnectionTimings {
  /// The protocol, and the time that a new connection took.
  fileprivate var remark: String {
    let took = [nameLookup, connecting, securing].compactMap(\.self).reduce(.zero, +)
    let making = isReused ? "connection reused" : "connected in \(LogText.milliseconds(took)) ms"
    return [protocolName, making].compactMap(\.self).joined(separator: ", ")
  }
}
