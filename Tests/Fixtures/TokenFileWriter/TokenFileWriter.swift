import Foundation
import RequestBehaviors

/// Replaces the token of the file that it is given for ever, and writes a line after each time.
///
/// The tests stop it with SIGKILL: whenever that is, the file must hold the last token told, or the one after it.
@main
enum TokenFileWriter {
  static func main() async throws {
    guard let path = CommandLine.arguments.dropFirst().first else { return }
    let store = FileTokenStore(url: URL(fileURLWithPath: path))
    var number = 0
    while true {
      number += 1
      // Longer than a page, so that a replacement which is not atomic would be seen.
      let padding = String(repeating: "x", count: 8_192)
      try await store.save(AccessToken("\(number)", refreshToken: padding))
      try FileHandle.standardOutput.write(contentsOf: Data("\(number)\n".utf8))
    }
  }
}
