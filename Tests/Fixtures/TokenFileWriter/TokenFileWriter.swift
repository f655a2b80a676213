import Foundation
import RequestBehaviors
import RequestBehaviorsSQLite

/// Uses the token file that it is given as a process beside others would.
///
/// With the path alone it replaces the token for ever. With the base URL of a server and a place to pause at, it sends
/// one request there, authenticated by a session over the file; one whose name ends in `.sqlite` is a database.
@main
enum TokenFileWriter {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let path = arguments.first else { return }
    let store = FileTokenStore(url: URL(fileURLWithPath: path))
    guard let text = arguments.dropFirst().first, let baseURL = URL(string: text) else {
      return try await replaceForEver(store)
    }
    let isDatabase = path.hasSuffix(".sqlite")
    let shared: any TokenStore = isDatabase ? SQLiteTokenStore(try SQLiteStore(path: path)) : store
    try await SessionProcess(store: shared, baseURL: baseURL, pause: arguments.last ?? "").run()
  }

  /// Replaces the token, and writes a line after each time.
  ///
  /// The tests stop it with SIGKILL: whenever that is, the file must hold the last token told, or the one after it.
  private static func replaceForEver(_ store: FileTokenStore) async throws {
    var number = 0
    while true {
      number += 1
      // Longer than a page, so that a replacement which is not atomic would be seen.
      let padding = String(repeating: "x", count: 8_192)
      try await store.save(AccessToken("\(number)", refreshToken: padding))
      tell("\(number)")
    }
  }
}

/// Writes a line at once.
func tell(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8)) }
