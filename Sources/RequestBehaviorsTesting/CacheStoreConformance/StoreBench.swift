import Foundation
import RequestBehaviors
import RequestBehaviorsCaching

/// The tools of a case of ``CacheStoreConformance``: a store, values to save, and checks.
struct StoreBench: ConformanceChecks {
  let place: CacheStoreConformance.Place
  let store: any CacheStore
  private let makeStore: CacheStoreConformance.Factory

  init(_ place: CacheStoreConformance.Place, _ makeStore: @escaping CacheStoreConformance.Factory) async throws {
    self.place = place
    self.makeStore = makeStore
    store = try await makeStore(place)
  }

  /// Makes a second store at the same place.
  func secondStore() async throws -> any CacheStore { try await makeStore(place) }

  /// Makes a store at another place, which the caller removes.
  func store(at place: CacheStoreConformance.Place) async throws -> any CacheStore { try await makeStore(place) }

  // MARK: - Values

  /// A key of a path.
  func key(_ path: String = "a", scopes: [String] = [], discriminator: String = "") -> CacheKey {
    CacheKey(url: "https://api.example.com/\(path)", scopes: scopes, discriminator: discriminator)
  }

  /// The default time of arrival, with a fraction that decimal text cuts off.
  static let date = Date(timeIntervalSinceReferenceDate: 789_000_000.123_456_7)

  /// A response.
  ///
  /// - Parameters:
  ///   - text: The body.
  ///   - variant: The request fields that selected it.
  ///   - seconds: How long after the default time it was generated and received.
  /// - Returns: The response.
  func response(_ text: String, variant: [String: String?] = [:], after seconds: Double = 0) -> StoredResponse {
    response(Data(text.utf8), variant: variant, after: seconds)
  }

  /// A response with a body of bytes.
  func response(_ body: Data, variant: [String: String?] = [:], after seconds: Double = 0) -> StoredResponse {
    let date = StoreBench.date.addingTimeInterval(seconds)
    return StoredResponse(
      statusCode: 200, headers: ["Content-Type": "text/plain", "Cache-Control": "max-age=60"], body: body,
      variant: CacheVariant(fields: variant.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) }),
      storedAt: date, terms: StoredTerms(responseTime: date, initialAge: 0, lifetime: 60))
  }

  // MARK: - Steps

  /// Saves a response that must be stored.
  func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields = [:],
    in other: (any CacheStore)? = nil
  ) async throws {
    let store = other ?? self.store
    let saving = try await store.save(response, for: key, matching: request, since: try await store.mark())
    try hold(saving.refusal == nil, "a response is refused that nothing speaks against: \(saving)")
  }

  /// Returns a response that must be stored.
  func found(
    for key: CacheKey, matching request: HeaderFields = [:], in other: (any CacheStore)? = nil
  ) async throws -> StoredResponse {
    let found = try await (other ?? store).response(for: key, matching: request)
    guard let found else {
      throw ConformanceFailure("nothing is found for \(key.url) of \(key.scopes), wanted a response")
    }
    return found
  }

  /// Returns the text of the body of a stored response; `nil` if no response is found.
  func text(
    for key: CacheKey, matching request: HeaderFields = [:], in other: (any CacheStore)? = nil
  ) async throws -> String? {
    try await (other ?? store).response(for: key, matching: request).map { String(decoding: $0.body, as: UTF8.self) }
  }

  /// The kinds of removals.
  enum Removal: String, Sendable, CaseIterable {
    case url, scope, everything
  }

  /// Removes everything, or the responses of the URL or of the owners of a key.
  func remove(_ removal: Removal, of key: CacheKey, in other: (any CacheStore)? = nil) async throws {
    let store = other ?? self.store
    switch removal {
    case .url: try await store.removeAll(url: key.url)
    case .scope: for scope in key.scopes { try await store.removeAll(scope: scope) }
    case .everything: try await store.removeAll()
    }
  }
}
