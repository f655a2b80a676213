/// The rules of which redirects are followed.
///
/// ```swift
/// // The 302 itself is the response.
/// let moved: NetworkResponse = try await client.send(
///   .get("archive").with(\.redirects, .none)
///     .with(\.acceptableStatuses, [302]))
/// ```
public struct RedirectPolicy: Sendable, Hashable {
  /// The maximum number of redirects of one call that are followed; 10 by default.
  public var limit: Int

  /// Whether a 307 or 308 sends a body on to another origin; false by default.
  ///
  /// If false, the 3xx is the outcome.
  public var sendsBodyToOtherOrigins: Bool

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of redirects that are followed. With 0 the 3xx itself is the outcome.
  ///   - sendsBodyToOtherOrigins: Whether a 307 or 308 sends a body on to another origin.
  public init(limit: Int = 10, sendsBodyToOtherOrigins: Bool = false) {
    self.limit = limit
    self.sendsBodyToOtherOrigins = sendsBodyToOtherOrigins
  }

  /// Follows up to 10 redirects; sends no body to another origin.
  public static let follow = RedirectPolicy()

  /// Follows no redirect: a 3xx is the outcome.
  public static let none = RedirectPolicy(limit: 0)
}

private enum Redirects: RequestOption {
  static let defaultValue = RedirectPolicy.follow
  static let isPortable = true
}

extension RequestOptions {
  /// The rules of which redirects are followed; up to 10 by default.
  public var redirects: RedirectPolicy {
    get { self[Redirects.self] }
    set { self[Redirects.self] = newValue }
  }
}
