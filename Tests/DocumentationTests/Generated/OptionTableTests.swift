import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsOAuth1
import Testing

/// The table of "Per-request options", made of the sources' doc comments and of the options' values.
@Suite(.limited) struct OptionTableTests {
  /// An option: its value when it is not set, and what obeys it.
  private struct Row {
    let name: String
    let value: String
    let obeyedBy: String

    init(_ name: String, _ value: String, _ obeyedBy: String) {
      (self.name, self.value, self.obeyedBy) = (name, value, obeyedBy)
    }

    init<Value>(_ name: String, _ path: KeyPath<RequestOptions, Value>, _ obeyedBy: String) {
      self.init(name, Row.text(RequestOptions()[keyPath: path]), obeyedBy)
    }

    private static func text(_ value: Any) -> String {
      let value = (value as? any OptionalValue)?.wrapped ?? value
      return switch value {
      case is any OptionalValue: "–"
      case let duration as Duration: "\(duration.components.seconds) s"
      case let flag as Bool: flag ? "yes" : "no"
      case let texts as [String: String] where texts.isEmpty: "none"
      case let value: "\(value)"
      }
    }
  }

  private static let limits = "``RateLimitBehavior``, ``ConcurrencyLimitBehavior``"

  /// In the order of a developer's interest.
  private static var rows: [Row] {
    let plain = RequestOptions()
    let isSuccess = (0...999).filter(plain.acceptableStatuses.contains) == Array(200...299)
    return [
      Row("timeout", \.timeout, "every transport"),
      Row("idleTimeout", \.idleTimeout, "every transport"),
      Row("deadline", \.deadline, "``DeadlineBehavior``"),
      Row("acceptableStatuses", isSuccess ? "200–299" : "others", "every client"),
      Row("acceptableContentTypes", \.acceptableContentTypes, "every client"),
      Row("bodyLimit", "\(plain.bodyLimit >> 20) MiB", "every transport"),
      Row("progress", \.progress, "every client"),
      Row("environment", \.environment, "every client"),
      Row("redirects", "up to \(plain.redirects.limit)", "``RedirectsBehavior``, which is built in"),
      Row(
        "authentication", plain.authentication == .required ? "`.required`" : "other", "every ``CredentialBehavior``"),
      Row("oauth1Parameters", \.oauth1Parameters, "`OAuth1Behavior`"),
      Row("caching", "`.\(plain.caching)`", "`CachingBehavior`; `.onlyIfCached` every client"),
      Row("staleIfError", \.staleIfError, "`CachingBehavior`"),
      Row("retryPolicy", \.retryPolicy, "``RetryBehavior``"),
      Row("idempotencyKey", \.idempotencyKey, "every client; ``RetryBehavior`` repeats such requests"),
      Row("hedging", \.hedging, "``HedgingBehavior``"),
      Row("coalescing", plain.coalescing == .automatic ? "`.automatic`" : "other", "``CoalescingBehavior``"),
      Row("bypassesBatching", \.bypassesBatching, "``BatchBehavior``"),
      Row("priority", plain.priority == .normal ? "`.normal`" : "other", limits),
      Row("bypassesLimits", \.bypassesLimits, limits),
      Row("bypassesCircuitBreaker", \.bypassesCircuitBreaker, "``CircuitBreakerBehavior``"),
      Row("bypassesGate", \.bypassesGate, "``GateBehavior``, ``OfflineBehavior``"),
      Row("offlineRule", "`.\(plain.offlineRule)`", "``OfflineBehavior``"),
      Row("allowsFramingHeaders", \.allowsFramingHeaders, "every transport"),
      Row("isCacheValidation", \.isCacheValidation, "a cache of your own"),
    ]
  }

  /// The public options of the sources that can be set, with the summaries of their doc comments.
  private static func declared() throws -> [String: String] {
    var found: [String: String] = [:]
    let folders = ["Sources/RequestBehaviors", "Sources/RequestBehaviorsOAuth1"]
    for path in folders.flatMap({ Repository.paths(under: $0, suffix: ".swift") }) {
      let parts = try Repository.text(path).components(separatedBy: "\nextension RequestOptions {\n").dropFirst()
      for part in parts {
        let body = part.components(separatedBy: "\n}").first ?? ""
        for member in body.components(separatedBy: "\n\n") where member.contains("    set {") {
          guard let name = member.firstMatch(of: /\n? *public var (\w+):/)?.1 else { continue }
          let comment = member.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0.hasPrefix("///") }
            .map { $0.dropFirst(3).trimmingCharacters(in: .whitespaces) }
          found[String(name)] = comment.prefix { !$0.isEmpty }.joined(separator: " ")
        }
      }
    }
    return found
  }

  /// Returns the first sentence of a summary, without what it says about the default.
  private static func setting(_ summary: String) -> String {
    var text = summary.components(separatedBy: ". ").first ?? summary
    if text.hasSuffix(".") { text.removeLast() }
    return text.components(separatedBy: "; ").filter { !$0.contains("default") }.joined(separator: "; ")
  }

  @Test func `the table of options is that of the sources`() throws {
    let declared = try Self.declared()
    let rows = Self.rows.map { row in
      let setting = declared[row.name].map(Self.setting) ?? "(no such option)"
      // The pages of a module have no links to what another one adds.
      let name = row.name == "oauth1Parameters" ? "`\(row.name)`" : "``RequestOptions/\(row.name)``"
      return "| \(name) | \(setting) | \(row.value) | \(row.obeyedBy) |"
    }
    let table = ["| option | setting | by default | obeyed by |", "|---|---|---|---|"] + rows
    try Repository.expect(
      "Sources/RequestBehaviors/RequestBehaviors.docc/PerRequestOptions.md", contains: table.joined(separator: "\n"))
    #expect(Set(declared.keys).subtracting(Self.rows.map(\.name)).isEmpty)
    #expect(declared.count > 20)
  }
}

/// An optional of any type.
private protocol OptionalValue {
  var wrapped: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var wrapped: Any? { map { $0 as Any } }
}
