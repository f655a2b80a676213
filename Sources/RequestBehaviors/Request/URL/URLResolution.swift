import Foundation

/// Builds request URLs (RFC 3986) and checks full URLs.
enum URLResolution {
  /// Returns the URL for a path below a base URL.
  ///
  /// - Parameters:
  ///   - path: The path, or a full URL.
  ///   - query: The items of the request.
  ///   - base: The base URL; `nil` without one.
  ///   - common: The items of every request below the base URL.
  /// - Returns: The URL.
  /// - Throws: ``NetworkError`` of code `invalidURL` that names the value and the rule.
  static func resolve(_ path: RequestPath, query: Query, below base: BaseURL?, with common: Query) throws -> URL {
    if let problem = path.problem { throw NetworkError(.invalidURL, problem) }
    if path.isAbsolute {
      return try check(try makeURL(path.encoded), adding: query)
    }
    guard let base else {
      throw NetworkError(
        .invalidURL,
        "there is no base URL for the path \"\(path.template)\"; give the configuration one, or use a full URL")
    }
    // Most paths need no escaping, so that their URL is a concatenation.
    if let directory = base.directory, common.items.isEmpty, isPlain(path.encoded) {
      let isRooted = path.encoded.utf8.first == UInt8(ascii: "/")
      var (text, separator) = (directory + (isRooted ? String(path.encoded.dropFirst()) : path.encoded), "?")
      add(query.percentEncoded, to: &text, &separator)
      return try makeURL(text)
    }
    // Any other path is joined and normalized. The queries follow in order: base URL, environment, path, request.
    if let problem = base.problem { throw NetworkError(.invalidURL, problem) }
    let (tail, ownQuery) = split(path.encoded)
    let joinedPath = try normalize(join(base.path, tail))
    var text = base.prefix + joinedPath
    var separator = "?"
    add(base.query, to: &text, &separator)
    add(common.percentEncoded, to: &text, &separator)
    add(ownQuery, to: &text, &separator)
    add(query.percentEncoded, to: &text, &separator)
    return try makeURL(text)
  }

  /// Returns a full URL with its dot segments removed and a query added.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - query: The items to add; none by default.
  ///   - dropsParentsOfRoot: Whether `..` above the root is dropped, as RFC 3986 §5.2.4 does for a server's references;
  ///     by default it is an error.
  /// - Returns: The URL for the request.
  /// - Throws: ``NetworkError`` of code `invalidURL` that names the value and the rule.
  static func check(_ url: URL, adding query: Query = Query(), dropsParentsOfRoot: Bool = false) throws -> URL {
    if let problem = problem(of: url) { throw NetworkError(.invalidURL, "the URL \(problem)") }
    guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true), let origin = Origin(url) else {
      throw NetworkError(.invalidURL, "\"\(Redactor.standard.redact(url))\" is not an absolute URL")
    }
    let path = try normalize(components.percentEncodedPath, dropsParentsOfRoot: dropsParentsOfRoot)
    var text = prefix(of: origin) + (path.isEmpty ? "/" : path)
    var separator = "?"
    add(components.percentEncodedQuery, to: &text, &separator)
    add(query.percentEncoded, to: &text, &separator)
    if let fragment = components.percentEncodedFragment { text += "#" + fragment }
    return try makeURL(text)
  }

  /// Returns why no request can be sent to a URL; `nil` if one can.
  static func problem(of url: URL) -> String? {
    // Most URLs have no problem, and a long one costs time to redact.
    var shown: String { Redactor.standard.redact(url) }
    guard let scheme = url.scheme?.lowercased() else {
      return url.absoluteString.isEmpty
        ? "is empty" : "\"\(shown)\" is relative; it must be an absolute http or https URL"
    }
    guard scheme == "http" || scheme == "https" else {
      return "\"\(shown)\" has the scheme \"\(scheme)\"; only http and https are sent"
    }
    guard let host = url.host(percentEncoded: true), !host.isEmpty else { return "\"\(shown)\" has no host" }
    if url.user(percentEncoded: true) != nil || url.password(percentEncoded: true) != nil {
      return "\"\(shown)\" has a user name or password in it, which would be sent in the clear; use BasicAuthBehavior"
    }
    if let port = url.port, !(1...65_535).contains(port) { return "\"\(shown)\" has the port \(port)" }
    if isAmbiguousAddress(host) {
      return "\"\(shown)\" has a host that some systems read as a number, and so as another address; write an IPv4 "
        + "address as four decimal numbers"
    }
    return nil
  }

  /// Whether a host ends in a number but is not an IPv4 address of four decimal numbers (RFC 3986 §7.4).
  ///
  /// Systems read `0177.1` and `2130706433` as 127.0.0.1, so that a check of the host's name would not see where the
  /// request goes. No name in the DNS ends in a number.
  static func isAmbiguousAddress(_ host: String) -> Bool {
    // Nearly every name ends in another letter.
    guard let end = host.utf8.last,
      end == 0x2E || end == 0x78 || end == 0x58 || Character(Unicode.Scalar(end)).isHexDigit,
      !host.utf8.contains(UInt8(ascii: ":"))
    else { return false }
    if isFourNumbers(host) { return false }
    // Digits may be escaped, and be those of another script.
    return HostName.endsInNumber(HostName.ascii(host) ?? host.removingPercentEncoding ?? host)
  }

  /// Whether a host is four numbers from 0 to 255 with dots between them.
  ///
  /// The numbers have no leading zeros, which some systems read as octal. A dot after the address, and escapes in it,
  /// are read differently too.
  private static func isFourNumbers(_ host: String) -> Bool {
    var (count, digits, number) = (1, 0, 0)
    for byte in host.utf8 {
      if byte == UInt8(ascii: "."), digits > 0 {
        (count, digits, number) = (count + 1, 0, 0)
      } else {
        guard byte.isASCIIDigit, digits == 0 || number > 0 else { return false }
        (digits, number) = (digits + 1, number * 10 + Int(byte - UInt8(ascii: "0")))
        guard number < 256 else { return false }
      }
    }
    return count == 4 && digits > 0
  }

  /// Returns the scheme and authority of an origin, as a URL begins with them.
  static func prefix(of origin: Origin) -> String { origin.description }

  /// Removes dot segments (RFC 3986 §5.2.4).
  ///
  /// - Throws: ``NetworkError`` of code `invalidURL` if `..` leads above the root and is not dropped there.
  static func normalize(_ path: String, dropsParentsOfRoot: Bool = false) throws -> String {
    guard path.utf8.contains(UInt8(ascii: ".")), path.contains("/.") else { return path }
    // A dot segment at the end leaves an empty one, so that the path still ends in a slash.
    var kept: [Substring] = []
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch segment {
      case ".": if isLast { kept.append("") }
      case "..":
        guard kept.popLast() != nil || dropsParentsOfRoot else {
          throw NetworkError(.invalidURL, "the path \"\(path)\" leads above the root")
        }
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/")
  }

  /// Returns whether a path can be appended unchanged: nothing in it must be escaped, split off or resolved.
  ///
  /// The check saves most requests a fifth of the time for building their URL.
  private static func isPlain(_ path: String) -> Bool {
    !path.isEmpty && path != "/"
      && path.hasOnlyBytes { $0.isASCIIAlphanumeric || $0 == 0x2F || $0 == 0x2D || $0 == 0x5F }
  }

  private static func join(_ base: String, _ tail: Substring) -> String {
    if tail.isEmpty { return base.isEmpty ? "/" : base }
    let slash = UInt8(ascii: "/")
    let directory = base.utf8.last == slash ? base : base + "/"
    let relative = tail.utf8.first == slash ? tail.dropFirst() : tail
    return directory + PercentEncoding.repair(relative, allowing: PercentEncoding.isPathCharacter)
  }

  /// Splits literal text into path and query; the fragment is dropped, because it is never sent.
  private static func split(_ text: String) -> (path: Substring, query: String?) {
    let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
    let sent = text[..<end]
    guard let mark = sent.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (sent, nil) }
    let query = sent[sent.utf8.index(after: mark)...]
    return (sent[..<mark], PercentEncoding.repair(query, allowing: PercentEncoding.isQueryCharacter))
  }

  private static func add(_ query: String?, to text: inout String, _ separator: inout String) {
    guard let query, !query.isEmpty else { return }
    text += separator
    text += query
    separator = "&"
  }

  private static func makeURL(_ text: String) throws -> URL {
    guard let url = URL(string: text) else {
      throw NetworkError(.invalidURL, "\"\(Redactor.standard.redact(urlReference: text))\" is not a URL")
    }
    return url
  }
}
