/// A typed setting of a request that a behavior or the client reads.
///
/// ```swift
/// enum Weight: RequestOption { static let defaultValue = 0 }
///
/// extension RequestOptions {
///   var weight: Int {
///     get { self[Weight.self] }
///     set { self[Weight.self] = newValue }
///   }
/// }
/// ```
///
/// A request sets it like those of the library:
///
/// ```swift
/// try await client.send(.get("feed").with(\.weight, 1))
/// ```
///
/// A value set on the request overrides one in the configuration's options. That overrides the value that a behavior
/// was created with, which overrides ``defaultValue``.
public protocol RequestOption {
  /// The type of the setting.
  associatedtype Value: Sendable

  /// The value if the option is not set.
  static var defaultValue: Value { get }

  /// Whether a value set on a request is kept when a redirect leads to another origin; by default it is not.
  static var isPortable: Bool { get }

  /// Whether two requests whose values differ may get different responses, or the same one at another time; by default
  /// they may.
  ///
  /// Requests that differ in such an option do not share a response. A timeout, a retry policy and leave to pass a gate
  /// are such options, because a request that shares a response runs with the values of another one. `Hashable` values
  /// are compared; any other value differs from all others.
  static var affectsResponse: Bool { get }

  /// Returns a warning about a value that is set while a certain list of behaviors runs; by default `nil`.
  ///
  /// An option that only one behavior obeys warns if that behavior is not listed:
  ///
  /// ```swift
  /// enum Region: RequestOption {
  ///   static let defaultValue: String? = nil
  ///
  ///   static func warning(
  ///     for value: String?, in pipeline: Pipeline
  ///   ) -> String? {
  ///     warning("region", isObeyedBy: RegionBehavior.self, in: pipeline)
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - value: The value that is set.
  ///   - pipeline: The behaviors of the client and the options of the request.
  /// - Returns: A sentence for ``Pipeline/warnings``, or `nil`.
  static func warning(for value: Value, in pipeline: Pipeline) -> String?
}

extension RequestOption {
  /// `false`: by default a value does not follow a request to another origin.
  public static var isPortable: Bool { false }

  /// `true`: by default requests whose values differ do not share a response.
  public static var affectsResponse: Bool { true }

  /// `nil`: by default every value is valid.
  public static func warning(for value: Value, in pipeline: Pipeline) -> String? { nil }
}

extension RequestOption {
  /// Returns a warning if the only behavior that obeys an option is not listed.
  ///
  /// - Parameters:
  ///   - name: The name of the option, as requests set it.
  ///   - type: The type of the behavior.
  ///   - pipeline: The behaviors of the client.
  /// - Returns: A sentence that names the option, the behavior and the remedy; `nil` if the behavior is listed.
  public static func warning<Behavior: RequestBehavior>(
    _ name: String, isObeyedBy type: Behavior.Type, in pipeline: Pipeline
  ) -> String? {
    guard pipeline.behavior(type) == nil else { return nil }
    return "the option \(name) is set, but nothing obeys it; list a \(type)"
  }
}
