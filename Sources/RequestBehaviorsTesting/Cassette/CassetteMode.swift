import Foundation
import RequestBehaviors

/// Whether a ``CassetteTransport`` plays its file, or connects and records.
public enum CassetteMode: String, Sendable, Hashable, CaseIterable {
  /// Plays the file and never connects; a request without an entry fails. The default.
  case replay
  /// Plays the entries that the file has, and records the other requests.
  case recordMissing = "missing"
  /// Records every request anew. Entries whose content is as before stay unchanged, others that were not requested go.
  case recordAll = "all"
  /// Connects; no file is read or written.
  case live

  /// The variable of the environment that chooses the mode where the test does not.
  static let variable = "REQUEST_BEHAVIORS_CASSETTES"

  /// The environment in place of the process's, for tests of cassettes themselves.
  @TaskLocal package static var environment: [String: String]?

  var records: Bool { self == .recordMissing || self == .recordAll }

  /// Returns the mode of a test.
  ///
  /// - Throws: ``CassetteError`` for a mode that is unknown, or that would record where `CI` is set.
  static func chosen(_ mode: CassetteMode?, environment: [String: String]) throws -> CassetteMode {
    var chosen = mode ?? .replay
    if mode == nil, let name = environment[variable], !name.isEmpty {
      guard let named = CassetteMode(rawValue: name) else {
        let names = allCases.map(\.rawValue).joined(separator: ", ")
        throw CassetteError("\(variable) is \(name); it is one of \(names)")
      }
      chosen = named
    }
    let isCI = !["", "0", "false"].contains(environment["CI"]?.lowercased() ?? "")
    if chosen.records, isCI {
      throw CassetteError(
        "the mode \(chosen.rawValue) records, and CI is set: recordings made anew on CI are not reviewed; "
          + "record on your own machine")
    }
    return chosen
  }
}
