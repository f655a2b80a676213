public import Foundation
import RequestBehaviors
public import RequestBehaviorsCaching

/// The rules for every store of an HTTP cache, as a list of cases that a test of any framework runs.
///
/// ```swift
/// let report = await CacheStoreConformance.run(
///   excluding: CacheStoreConformance.cases(
///     about: .sharing, excludedBecause: "one object has the file")
/// ) { place in
///   SealedCacheStore(
///     file: place.folder.appending(path: "cache"),
///     capacity: place.capacity, cipher: cipher)
/// }
/// #expect(report.failures.isEmpty, "\(report)")
/// ```
///
/// Each case has a store and a folder of its own, and fails if it does not end in time. If a framework has tests with
/// arguments, each of ``cases`` can be a test of its own.
///
/// Your test excludes the cases about ``Subject/room`` for a store without a limit. It excludes those about
/// ``Subject/sharing`` for a store that two objects cannot share, such as one in memory. See
/// ``cases(about:excludedBecause:)``.
public enum CacheStoreConformance {
  /// Makes the store to check, which is empty if its place is new.
  ///
  /// A case about sharing calls it twice with the same place, and uses both stores at the same time.
  public typealias Factory = @Sendable (Place) async throws -> any CacheStore

  /// The place where the store of a case keeps its responses.
  public struct Place: Sendable {
    /// A folder that is empty at first, and is removed after the case.
    public let folder: URL

    /// The most bytes that the store should keep: 1 MiB.
    ///
    /// The bytes are counted as `StoredResponse/size`. Only the cases about room save more than three quarters of it.
    public let capacity = 1 << 20
  }

  /// The subject of a case.
  public enum Subject: Sendable, Hashable, CaseIterable {
    /// Saved responses are found unchanged by the requests that match them.
    case finding
    /// Responses are updated and removed.
    case changing
    /// A response that was requested before a removal is not stored after it.
    case removals
    /// The store is limited by bytes.
    case room
    /// Two objects use one store.
    case sharing
  }

  /// All cases, in the order in which they run.
  public static let cases: [Case] = finding + keys + changing + removing + removals + room + sharing

  /// Returns the cases about a subject with a reason to exclude them.
  ///
  /// - Parameters:
  ///   - subject: The subject.
  ///   - reason: The reason for which they do not run.
  /// - Returns: The reason, by the name of each case.
  public static func cases(about subject: Subject, excludedBecause reason: String) -> [String: String] {
    Dictionary(uniqueKeysWithValues: cases.filter { $0.subject == subject }.map { ($0.name, reason) })
  }

  /// Runs the cases one after the other.
  ///
  /// - Parameters:
  ///   - exclusions: The names of cases that do not run, each with the reason. A name that no case has is a failure.
  ///   - limit: How long a case may take, in real time; 20 seconds by default.
  ///   - makeStore: Makes the store of a case.
  /// - Returns: The result of each case.
  public static func run(
    excluding exclusions: [String: String] = [:], within limit: Duration = .seconds(20),
    _ makeStore: @escaping Factory
  ) async -> ConformanceReport {
    await ConformanceReport.run(cases.map(\.name), excluding: exclusions) { index in
      try await cases[index].run(within: limit, makeStore)
    }
  }
}

extension CacheStoreConformance {
  /// One thing that a store must do.
  public struct Case: Sendable, CustomStringConvertible {
    /// The rule, such as "a body of any length comes back whole", which names the case in exclusions.
    public let name: String
    /// The subject of the rule.
    public let subject: Subject
    private let check: @Sendable (StoreBench) async throws -> Void

    init(_ subject: Subject, _ name: String, _ check: @escaping @Sendable (StoreBench) async throws -> Void) {
      self.name = name
      self.subject = subject
      self.check = check
    }

    /// The name.
    public var description: String { name }

    /// Checks a store.
    ///
    /// - Parameters:
    ///   - limit: How long it may take, in real time; 20 seconds by default.
    ///   - makeStore: Makes the store.
    /// - Throws: ``ConformanceFailure`` that names the rule that was broken; the error of a store that should not
    ///   throw.
    public func run(within limit: Duration = .seconds(20), _ makeStore: @escaping Factory) async throws {
      try await ConformanceFailure.within(limit) {
        let place = try Place.temporary()
        defer { place.remove() }
        try await check(try await StoreBench(place, makeStore))
      }
    }
  }
}

extension CacheStoreConformance.Place {
  /// Makes a folder for a case.
  static func temporary() throws -> Self {
    let folder = FileManager.default.temporaryDirectory.appending(path: "CacheStore-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return Self(folder: folder)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}
