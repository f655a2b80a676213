import Foundation

/// The proxies that the environment names.
///
/// Their URLs may contain a user and a password.
///
/// libcurl uses them, also within URLSession on Linux, and quotes one that it cannot parse in its error text.
package enum ProxyCredentials {
  package static let names = ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"]

  /// Returns text without the users and passwords of the environment's proxies.
  package static func hidingCredentials(in text: String) -> String {
    // Most texts contain no proxy.
    guard text.contains("@") || text.contains("roxy") else { return text }
    return hidingCredentials(of: ProcessInfo.processInfo.environment, in: text)
  }

  package static func hidingCredentials(of environment: [String: String], in text: String) -> String {
    let secrets = names.compactMap { environment[$0] }.flatMap(credentials).sorted { $0.utf8.count > $1.utf8.count }
    return secrets.reduce(text) { $0.replacing($1, with: Redactor.placeholder) }
  }

  /// Returns the text before the last `@` of a proxy's URL, which may be malformed: as a whole, and its parts.
  private static func credentials(in proxy: String) -> [String] {
    guard let end = proxy.lastIndex(of: "@") else { return [] }
    let start = proxy.firstRange(of: "://")?.upperBound ?? proxy.startIndex
    guard start < end else { return [] }
    let whole = proxy[start..<end]
    let parts = [whole] + whole.split(separator: ":", maxSplits: 1)
    let all = parts.flatMap { [String($0), $0.removingPercentEncoding ?? ""] }
    // Shorter parts would match unrelated text.
    return all.filter { $0.utf8.count >= KnownSecrets.minimumLength || $0 == whole }.filter { !$0.isEmpty }
  }
}
