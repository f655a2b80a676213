import Foundation

/// The main job on a real connection: `swift run QuickStart` against a server of its own, `--url URL` against another.
///
/// `swift run QuickStart sign-in` signs you in with your browser; `--no-browser` only prints the link.
@main
struct QuickStart {
  static func main() async {
    do {
      #if os(macOS) || os(Linux)
        if try await isEditor(CommandLine.arguments) { return }
      #endif
      let tour: Tour
      switch Array(CommandLine.arguments.dropFirst()) {
      case ["sign-in"]: tour = .signIn(opensBrowser: true)
      case ["sign-in", "--no-browser"]: tour = .signIn(opensBrowser: false)
      case []: tour = .own
      case let arguments where arguments.count == 2 && arguments[0] == "--url":
        guard let url = URL(string: arguments[1]), url.host != nil else {
          throw Complaint("\"\(arguments[1])\" is not an absolute URL")
        }
        tour = .other(url)
      default: throw Complaint("usage: QuickStart [--url URL | sign-in [--no-browser]]")
      }
      try await tour.run()
      print("\nAll as it should be.")
    } catch {
      print("\nNot as it should be: \(error)")
      exit(1)
    }
  }

  #if os(macOS) || os(Linux)
    /// Plays the process that is killed, if the arguments say so.
    private static func isEditor(_ arguments: [String]) async throws -> Bool {
      guard arguments.count == 4, arguments[1] == "--edit", let api = URL(string: arguments[3]) else { return false }
      try await OutboxTour(api: api, file: arguments[2]).edit()
      return true
    }
  #endif
}

/// What makes the program end with status 1.
struct Complaint: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Throws unless something is as it was said to be.
  static func unless(_ isTrue: Bool, _ claim: String) throws {
    guard isTrue else { throw Complaint("it is not so that \(claim)") }
  }
}

/// Prints a heading.
func heading(_ text: String) { print("\n── \(text) " + String(repeating: "─", count: max(0, 76 - text.count)) + "\n") }
