import Foundation

/// The parts of a request as a `curl` command that sends the same.
struct CURLCommand {
  var method: String
  var url: String
  var headers: HeaderFields
  var body: Data?
  /// A file whose content is the body, instead of ``body``.
  var file: String?

  /// The command on one line, or with each option on a line of its own.
  func text(multiline: Bool) -> String {
    let first = [methodOption] + urlOptions + [ShellQuoting.quote(url)]
    let fields = headers.filter { !HeaderFields.areEqual($0.name, "Content-Length") }.map(headerOption)
    let parts =
      [first.compactMap(\.self).joined(separator: " ")] + fields + removedFields + [bodyOption].compactMap(\.self)
    let command = "curl " + parts.joined(separator: multiline ? " \\\n  " : " ")
    return binaryBody.map { ShellQuoting.printf($0) + " | " + command } ?? command
  }

  private var hasBody: Bool { body != nil || file != nil }

  /// curl itself sends GET without a body and POST with one; `-X HEAD` would wait for a body that never comes.
  private var methodOption: String? {
    switch method {
    case "GET" where !hasBody, "POST" where hasBody: nil
    case "HEAD" where !hasBody: "--head"
    default: "--request " + ShellQuoting.quote(method)
    }
  }

  /// curl expands brackets and braces and removes dot segments unless told not to.
  private var urlOptions: [String] {
    let hasGlob = url.contains { "[]{}".contains($0) }
    return (hasGlob ? ["--globoff"] : []) + (url.contains("/.") ? ["--path-as-is"] : [])
  }

  /// curl takes `Name:` as the removal of a field of its own and `Name;` as an empty one.
  private func headerOption(_ field: HeaderFields.Field) -> String {
    "--header " + ShellQuoting.quote(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
  }

  /// Removes the fields that curl would add to those of the request.
  private var removedFields: [String] {
    let added = ["Accept", "User-Agent"] + (hasBody ? ["Content-Type", "Expect"] : [])
    return added.filter { !headers.contains($0) }.map { "--header \($0):" }
  }

  private var bodyOption: String? {
    if let file { return "--data-binary " + ShellQuoting.quote("@\(file)") }
    guard let body else { return nil }
    if binaryBody != nil { return "--data-binary @-" }
    // `--data-raw` alone takes a leading @ for what it is; no option of curl strips line breaks from it.
    return "--data-raw " + ShellQuoting.quote(String(decoding: body, as: UTF8.self))
  }

  /// The body if no shell word can hold it: Linux takes 128 KiB a word.
  private var binaryBody: Data? {
    guard file == nil, let body else { return nil }
    return body.count > 65_536 || body.contains(0) || String(data: body, encoding: .utf8) == nil ? body : nil
  }
}
