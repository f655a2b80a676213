import Foundation

/// The stream for messages to the people who run the program.
package enum StandardError {
  /// A pipe takes what is longer than its buffer in pieces, between which another thread could write.
  private static let lock = NSLock()

  /// Writes a line; a line that cannot be written, as on a full disk, is lost.
  package static func write(_ line: String) {
    // The function `write(_:)` of the handle would end the process instead of throwing.
    lock.withLock { try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8)) }
  }
}
