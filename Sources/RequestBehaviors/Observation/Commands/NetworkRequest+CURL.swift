import Foundation

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
  /// Secrets are hidden; with `redactor: nil` they are shown and the command sends the same request. A stream body is
  /// read from the standard input.
  ///
  /// - Parameters:
  ///   - redactor: What hides the secrets; `nil` to show everything.
  ///   - isMultiline: Whether each option stands on a line of its own; by default all are on one line.
  /// - Returns: The command.
  public func curlCommand(redactor: Redactor? = .standard, isMultiline: Bool = false) -> String {
    let redactor = redactor?.hiding(secretsOf: self)
    var command = CURLCommand(
      method: method.rawValue, url: redactor?.redact(url) ?? url.absoluteString.withoutFragment,
      headers: redactor?.redact(headers) ?? headers)
    switch body?.content {
    case .data(let data): command.body = redactor.map { Data(shown(data, by: $0).utf8) } ?? data
    case .file(let url): command.file = url.path(percentEncoded: false)
    case .stream, .oneShot: command.file = "-"
    case nil: break
    }
    if command.file != nil || command.body != nil, !headers.contains("Content-Type"), let type = body?.contentType {
      command.headers["Content-Type"] = type
    }
    return command.text(multiline: isMultiline)
  }

  private func shown(_ data: Data, by redactor: Redactor) -> String {
    redactor.redact(body: data, contentType: headers["Content-Type"] ?? body?.contentType, limit: 65_536)
  }
}

extension String {
  /// A fragment is never sent.
  fileprivate var withoutFragment: String { String(prefix { $0 != "#" }) }
}
