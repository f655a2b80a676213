import Foundation

/// The stream for messages to the people who run the program.
package enum StandardError {
  /// Writes a line; a line that cannot be written, as on a full disk, is lost.
  package static func write(_ line: String) {
    // The function `write(_:)` of the handle would end the process instead of throwing.
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }
}
