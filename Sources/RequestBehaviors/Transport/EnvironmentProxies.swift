import Foundation

/// The proxies that the environment names, whose URLs may have a user and a password in them.
///
/// libcurl obeys them, for URLSession on Linux too, and quotes one that it cannot read.
package enum EnvironmentProxies {
  package static let names = ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"]

  /// Returns text without the users and passwords of the environment's proxies.
  package static func hidingCredentials(in text: String) -> String {
    // Mostly there is none.
    guard text.contains("@") || text.contains("roxy") else { return text }
    return hidingCredentials(of: ProcessInfo.processInfo.environment, in: text)
  }

  package static func hidingCredentials(of environment: [String: String], in text: String) -> String {
    let secrets = names.compactMap { environment[$0] }.flatMap(credentials).sorted { $0.utf8.count > $1.utf8.count }
    return secrets.reduce(text) { $0.replacing($1, with: Redactor.placeholder) }
  }

  /// What stands before the last `@` of a proxy's URL, which may be malformed: as a whole, and its parts.
  private static func credentials(in proxy: String) -> [String] {
    guard let end = proxy.lastIndex(of: "@") else { return [] }
    let start = proxy.firstRange(of: "://")?.upperBound ?? proxy.startIndex
    guard start < end else { return [] }
    let whole = proxy[start..<end]
    let parts = [whole] + whole.split(separator: ":", maxSplits: 1)
    let all = parts.flatMap { [String($0), $0.removingPercentEncoding ?? ""] }
    // What is shorter stands everywhere.
    return all.filter { $0.utf8.count >= KnownSecrets.minimumLength || $0 == whole }.filter { !$0.isEmpty }
  }
}
