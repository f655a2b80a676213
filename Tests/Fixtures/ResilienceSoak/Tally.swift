import Foundation
import RequestBehaviors

/// How requests ended.
final class Tally: Sendable {
  private struct Counts {
    var succeeded = 0
    var failed = 0
    var cancelled = 0
    var attempts = 0
    var slowest = Duration.zero
    var codes: [String: Int] = [:]
  }

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var counts = Counts()

  var succeeded: Int { lock.withLock { counts.succeeded } }
  var failed: Int { lock.withLock { counts.failed } }
  var cancelled: Int { lock.withLock { counts.cancelled } }
  var attempts: Int { lock.withLock { counts.attempts } }
  var slowest: Duration { lock.withLock { counts.slowest } }
  var codes: [String: Int] { lock.withLock { counts.codes } }

  func forgetAttempts() { lock.withLock { counts.attempts = 0 } }

  func add(attempts: Int) { lock.withLock { counts.attempts += attempts } }

  func add(duration: Duration) { lock.withLock { counts.slowest = max(counts.slowest, duration) } }

  /// Counts an outcome.
  ///
  /// - Throws: ``WrongOutcome`` for a response that is not to this request, or an error that no fault explains.
  func judge(_ outcome: Result<String, any Error>, of path: String, isCancelled: Bool) throws {
    switch outcome {
    case .success(let text):
      guard text == FaultyServer.body(of: path) else { throw WrongOutcome("\(path) was answered with \(text)") }
      lock.withLock { counts.succeeded += 1 }
    case .failure(is CancellationError) where isCancelled:
      lock.withLock { counts.cancelled += 1 }
    case .failure(let error as NetworkError) where Tally.isExplained(error):
      lock.withLock {
        counts.failed += 1
        counts.codes[error.code.description, default: 0] += 1
      }
    case .failure(let error): throw WrongOutcome("\(path) failed with \(error)")
    }
  }

  /// Whether a fault of the server's, or what this side does about many, leads to an error.
  private static func isExplained(_ error: NetworkError) -> Bool {
    switch error.code {
    case .unacceptableStatus: error.statusCode == 503
    case .connectionLost, .truncatedBody, .timedOut, .circuitOpen, .deadlineExceeded: true
    default: false
    }
  }
}

/// An outcome that nothing explains.
struct WrongOutcome: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
