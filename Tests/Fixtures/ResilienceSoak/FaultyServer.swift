import Foundation
import RequestBehaviorsTesting
import TestSupport

/// A server of which four responses of ten are a reset, a stall, a 503 or a body that is cut off.
///
/// Chance decides which, for each path separately: what happens to one path does not depend on when others are asked
/// for. The other responses tell the path that was asked for, so that a response to another request is found.
final class FaultyServer: Sendable {
  private let lock = NSLock()
  // The generator of each path, protected by `lock`.
  nonisolated(unsafe) private var generators: [String: SeededGenerator] = [:]
  // Protected by `lock` too.
  nonisolated(unsafe) private var hasFaults = false

  /// Makes later responses fail, or not.
  func setFaults(_ areOn: Bool) { lock.withLock { hasFaults = areOn } }

  /// What a correct response to a path says.
  static func body(of path: String) -> String { "\(path) " + String(repeating: "0123456789", count: 50) }

  /// Returns the response, or how it fails.
  func respond(to request: LoopbackRequest) -> LoopbackResponse {
    let response = LoopbackResponse.text(FaultyServer.body(of: request.path))
    let chance = lock.withLock { hasFaults ? number(of: request.path) : 99 }
    return switch chance {
    case 0..<10: response.fault(.reset, at: .request)
    case 10..<15: response.fault(.stall, at: .request)
    case 15..<20: response.fault(.stall, at: .body(after: 100))
    case 20..<30: .text("come back later", status: 503)
    case 30..<40: response.fault(.close, at: .body(after: 200))
    default: response
    }
  }

  /// Returns the next number of a path, from 0 to 99.
  private func number(of path: String) -> Int {
    let seed = path.utf8.reduce(11) { $0 &* 31 &+ UInt64($1) }
    return Int.random(in: 0..<100, using: &generators[path, default: SeededGenerator(seed: seed)])
  }
}
