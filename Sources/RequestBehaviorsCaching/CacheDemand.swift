import Foundation
import RequestBehaviors

/// The demand of a request on the cache, from its option and its directives (RFC 9111 §5.2.1, §5.4).
package struct CacheDemand: Sendable, Hashable {
  /// Whether no stored response is used and no validator is sent.
  var isReload = false
  /// Whether every stored response needs a successful validation.
  var requiresValidation = false
  /// Whether a fresh response that is immutable needs no validation all the same.
  var trustsImmutable = false
  /// Whether no stored response is used and none is stored.
  var forbidsStoring = false
  /// Whether nothing may be sent.
  var isOnlyIfCached = false
  /// Whether a response of any age is accepted.
  var prefersStale = false
  /// The greatest age that is accepted, in seconds.
  var maxAge: TimeInterval?
  /// The least time that the response must stay fresh, in seconds.
  var minFresh: TimeInterval = 0
  /// How long the response may have been stale, in seconds.
  var maxStale: TimeInterval?
  /// How long the response may have been stale if the server fails, in seconds.
  var staleIfError: TimeInterval?

  /// Creates the demand of a request without option and directives.
  package init() {}

  /// Reads the demand of a request.
  init(_ request: NetworkRequest, policy: CachePolicy) {
    staleIfError = (request.options.staleIfError ?? policy.staleIfError)?.inSeconds
    switch request.options.caching {
    case .standard: break
    case .reload: isReload = true
    case .revalidate: (requiresValidation, trustsImmutable) = (true, true)
    case .onlyIfCached: isOnlyIfCached = true
    case .preferStale: prefersStale = true
    case .noStore: (forbidsStoring, isReload) = (true, true)
    }
    read(request.headers)
  }

  /// Adds the directives of the request's fields.
  ///
  /// An invalid number is read as the strictest one: any age is too great, and no response is fresh enough.
  private mutating func read(_ headers: HeaderFields) {
    guard headers.contains("Cache-Control") else {
      // RFC 9111 §5.4: `Pragma` counts only in a request without `Cache-Control`.
      let pragma = headers["Pragma"].map { FieldList.members(of: $0) } ?? []
      if pragma.contains(where: { $0.lowercased() == "no-cache" }) {
        (requiresValidation, trustsImmutable) = (true, false)
      }
      return
    }
    let control = CacheControl(headers)
    if control.contains("no-store") { (forbidsStoring, isReload) = (true, true) }
    if control.contains("no-cache") { (requiresValidation, trustsImmutable) = (true, false) }
    if control.contains("only-if-cached") { isOnlyIfCached = true }
    switch control.seconds("max-age") {
    case .value(let seconds): maxAge = TimeInterval(seconds)
    case .invalid: maxAge = 0
    case nil: break
    }
    switch control.seconds("min-fresh") {
    case .value(let seconds): minFresh = TimeInterval(seconds)
    case .invalid: minFresh = .infinity
    case nil: break
    }
    if case .value(let seconds)? = control.seconds("max-stale") { maxStale = TimeInterval(seconds) }
    // Without an argument, any staleness is accepted (RFC 9111 §5.2.1.2).
    let isUnlimited = control.directives.contains { $0.name == "max-stale" && $0.argument == nil && !$0.isMalformed }
    if isUnlimited { maxStale = .infinity }
    if case .value(let seconds)? = control.seconds("stale-if-error") {
      staleIfError = max(staleIfError ?? 0, TimeInterval(seconds))
    }
  }

  /// Whether a later request like this one could use a response, while it is fresh or when it is stale.
  func couldUse(_ stored: StoredResponse) -> Bool {
    let terms = stored.terms
    if !CacheValidators(stored.headers).isEmpty { return true }
    guard !terms.requiresValidation else { return false }
    if terms.isFresh(at: terms.responseTime) { return true }
    let allowsStale = prefersStale || maxStale != nil || staleIfError != nil
    return terms.allowsStale && (allowsStale || terms.staleIfError != nil || terms.staleWhileRevalidate != nil)
  }

  /// The directive that asks caches on the way to the server for the same as the option; `nil` if the option asks for
  /// nothing of them.
  static func directive(for mode: CachingMode) -> String? {
    switch mode {
    case .standard, .onlyIfCached, .preferStale: nil
    case .reload: "no-cache"
    case .revalidate: "max-age=0"
    case .noStore: "no-store"
    }
  }
}
