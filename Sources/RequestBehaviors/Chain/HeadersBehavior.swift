public import Foundation

/// Sets header fields on every request: a user agent, the languages of the user, a client's name.
///
/// ```swift
/// let client = NetworkClient(
///   baseURL: baseURL,
///   behaviors: [
///     .headers(["X-Client": "shop-ios"]),
///     .acceptLanguage(["da", "en"]),
///     .headers("clock") { request in
///       ["X-Sent-At": request.call.clock.date().formatted(.iso8601)]
///     },
///   ])
/// ```
///
/// A field that the user sets on a request takes precedence. A list may hold several of these behaviors, one for each
/// name. The request's behavior replaces the configuration's of the same name.
public struct HeadersBehavior: UniqueBehavior {
  /// Once per call, even if behaviors further in repeat the request.
  public let order = BehaviorOrder.request
  /// `true`, because `intercept` holds nothing that a prerequisite could wait for.
  public let runsForPrerequisites = true

  /// The name that identifies it among behaviors of the type; for fixed fields, their names in lower case.
  public let name: String
  private let make: @Sendable (NetworkRequest) async throws -> HeaderFields

  /// Creates a behavior that sets fixed fields.
  ///
  /// Mark a secret with ``HeaderFields/set(_:_:sensitive:)-(String,_,_)``, or send it with ``APIKeyBehavior``. A field
  /// whose name means a credential counts as marked for the base URL's origin.
  ///
  /// - Parameter headers: The fields.
  public init(_ headers: HeaderFields) {
    self.name = headers.map { $0.name.lowercased() }.sorted().joined(separator: ",")
    var fields = headers
    fields.markCredentials(as: .baseURL)
    self.make = { [fields] _ in fields }
  }

  /// Creates a behavior that computes fields for each request.
  ///
  /// - Parameters:
  ///   - name: The name that identifies it among behaviors of the type.
  ///   - make: Returns the fields; an error that it throws fails the request.
  public init(_ name: String, _ make: @escaping @Sendable (NetworkRequest) async throws -> HeaderFields) {
    self.name = name
    self.make = make
  }

  /// Returns the fields.
  public func headers(for request: NetworkRequest) async throws -> HeaderFields { try await make(request) }
}

extension RequestBehavior where Self == HeadersBehavior {
  /// Sets fixed header fields; see ``HeadersBehavior``.
  public static func headers(_ headers: HeaderFields) -> HeadersBehavior { HeadersBehavior(headers) }

  /// Sets header fields that are computed for each request; see ``HeadersBehavior``.
  public static func headers(
    _ name: String, _ make: @escaping @Sendable (NetworkRequest) async throws -> HeaderFields
  ) -> HeadersBehavior {
    HeadersBehavior(name, make)
  }

  /// Sets the `User-Agent` (RFC 9110 §10.1.5), such as `shop/1.2`.
  public static func userAgent(_ value: String) -> HeadersBehavior { HeadersBehavior(["User-Agent": value]) }

  /// Sets `Accept-Language` (RFC 9110 §12.5.4), the first language preferred.
  ///
  /// - Parameter languages: Language tags in order of preference, of which up to ten are sent; by default the user's.
  /// - Returns: The behavior.
  public static func acceptLanguage(_ languages: [String] = Locale.preferredLanguages) -> HeadersBehavior {
    let ranked = languages.prefix(10).enumerated().map { rank, language in
      rank == 0 ? language : "\(language);q=0.\(10 - rank)"
    }
    return HeadersBehavior(ranked.isEmpty ? [:] : ["Accept-Language": ranked.joined(separator: ", ")])
  }
}
