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

/// The pace at which a ``CassetteTransport`` plays responses.
public struct ReplayPace: Sendable, Hashable {
  /// The number by which recorded times are divided; 0 for no waits.
  let factor: Double

  /// Without waits, in the recorded chunks; the default.
  public static let immediate = ReplayPace(factor: 0)
  /// At the recorded times, on the call's clock, with a ``ManualClock`` in virtual time.
  public static let recorded = ReplayPace(factor: 1)

  /// So many times faster than it was recorded.
  ///
  /// - Parameter factor: A number above 0; otherwise there are no waits.
  /// - Returns: The pace.
  public static func scaled(_ factor: Double) -> ReplayPace {
    ReplayPace(factor: factor > 0 ? factor : 0)
  }

  func time(_ recorded: Duration) -> Duration {
    // Few durations can be divided by a tiny number.
    factor == 1 ? recorded : factor > 0 ? Duration(clamping: recorded.inSeconds / factor) : .zero
  }
}

/// A cassette that cannot be read, written or used as the test wants, with the remedy.
public struct CassetteError: Error, Sendable, CustomStringConvertible {
  /// The problem and its remedy, without secrets.
  public let description: String

  init(_ description: String) { self.description = description }
}
