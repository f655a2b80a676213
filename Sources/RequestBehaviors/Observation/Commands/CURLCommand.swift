import Foundation

/// A `curl` command that sends the same request.
struct CURLCommand {
  var method: String
  var url: String
  var headers: HeaderFields
  var body: Data?
  /// The file with the body, instead of ``body``.
  var file: String?

  /// Returns the command on one line, or with each option on its own line.
  func text(multiline: Bool) -> String {
    let first = [methodOption] + urlOptions + [ShellQuoting.quote(url)]
    let fields = headers.filter { !HeaderFields.areEqual($0.name, "Content-Length") }.map(headerOption)
    let parts =
      [first.compactMap(\.self).joined(separator: " ")] + fields + removedFields + [bodyOption].compactMap(\.self)
    let command = "curl " + parts.joined(separator: multiline ? " \\\n  " : " ")
    return binaryBody.map { ShellQuoting.printf($0) + " | " + command } ?? command
  }

  private var hasBody: Bool { body != nil || file != nil }

  /// The option for the method; without it curl sends GET without a body and POST with one.
  ///
  /// `-X HEAD` would wait for a body that never comes.
  private var methodOption: String? {
    switch method {
    case "GET" where !hasBody, "POST" where hasBody: nil
    case "HEAD" where !hasBody: "--head"
    default: "--request " + ShellQuoting.quote(method)
    }
  }

  /// The options for the URL; by default curl expands brackets and braces and removes dot segments.
  private var urlOptions: [String] {
    let hasGlob = url.contains { "[]{}".contains($0) }
    return (hasGlob ? ["--globoff"] : []) + (url.contains("/.") ? ["--path-as-is"] : [])
  }

  /// Returns the option for a field; curl reads `Name:` as the removal of its own field and `Name;` as an empty field.
  private func headerOption(_ field: HeaderFields.Field) -> String {
    "--header " + ShellQuoting.quote(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
  }

  /// The options that remove the fields which curl would add.
  private var removedFields: [String] {
    let added = ["Accept", "User-Agent"] + (hasBody ? ["Content-Type", "Expect"] : [])
    return added.filter { !headers.contains($0) }.map { "--header \($0):" }
  }

  private var bodyOption: String? {
    if let file { return "--data-binary " + ShellQuoting.quote("@\(file)") }
    guard let body else { return nil }
    if binaryBody != nil { return "--data-binary @-" }
    // Only `--data-raw` takes a leading @ literally and keeps line breaks.
    return "--data-raw " + ShellQuoting.quote(String(decoding: body, as: UTF8.self))
  }

  /// The body if it does not fit into a shell word: a word on Linux is limited to 128 KiB.
  private var binaryBody: Data? {
    guard file == nil, let body else { return nil }
    return body.count > 65_536 || body.contains(0) || String(data: body, encoding: .utf8) == nil ? body : nil
  }
}

extension NetworkRequest {
  /// Returns the request as a `curl` command for a POSIX shell.
  ///
  /// ```swift
  /// print(response.request.curlCommand(isMultiline: true))
  /// // curl 'https://api.example.com/v1/issues?page=2' \
  /// //   --header Accept: \
  /// //   --header User-Agent:
  /// ```
  ///
  /// Secrets are hidden. With `redactor: nil` they are shown, and the command sends the same request. A streamed body
  /// is read from the standard input.
  ///
  /// - Parameters:
  ///   - redactor: The redactor that hides the secrets; `nil` to show all values.
  ///   - isMultiline: Whether each option is on its own line; by default all are on one line.
  /// - Returns: The command.
  public func curlCommand(redactor: Redactor? = .standard, isMultiline: Bool = false) -> String {
    let redactor = redactor?.hiding(secretsOf: self)
    var command = CURLCommand(
      method: method.rawValue, url: redactor?.redact(url) ?? url.textWithoutFragment,
      headers: redactor?.redact(headers) ?? headers)
    switch body?.content {
    case .data(let data): command.body = redactor.map { Data(shown(data, by: $0).utf8) } ?? data
    case .file(let url): command.file = url.path(percentEncoded: false)
    case .stream, .oneShot: command.file = "-"
    case nil: break
    }
    if command.file != nil || command.body != nil, !headers.contains("Content-Type"), let type = body?.contentType {
      command.headers[.contentType] = type
    }
    return command.text(multiline: isMultiline)
  }

  private func shown(_ data: Data, by redactor: Redactor) -> String {
    redactor.redact(body: data, contentType: headers[.contentType] ?? body?.contentType, limit: 65_536)
  }
}
