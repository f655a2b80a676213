import Foundation

/// Runs an outbox for as long as one likes, and tells whether what was enqueued has arrived as it should.
///
/// | arguments | what is run |
/// |---|---|
/// | `steps COUNT [SEED]` | random steps of an app beside outboxes that send, compared with a list |
/// | `users COUNT` | requests of two users who sign in in turn while their entries are sent |
/// | `drain COUNT` | one drain of a long queue |
/// | `portals` | captive portals of six forms, over real connections |
/// | `kills COUNT PROCESSES [network]` | processes that enqueue and send until they are killed |
///
/// Each prints its figures in one line, and ends with an error for an outcome that is wrong.
@main
enum OutboxSoak {
  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      print("wrong: \(error)")
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) async throws {
    let count = arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000
    switch arguments.first {
    case "steps":
      try await StepsProgram(count: count, seed: arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? 1).run()
    case "users": try await UsersProgram(count: count).run()
    case "drain": try await DrainProgram(count: count).run()
    case "portals": try await PortalsProgram().run()
    case "kills":
      let processes = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1
      try await KillsProgram(
        count: count, processes: processes, isOverNetwork: arguments.dropFirst(3).first == "network"
      ).run()
    default:
      print("one of: steps COUNT [SEED], users COUNT, drain COUNT, portals, kills COUNT PROCESSES [network]")
      exit(2)
    }
  }
}

/// An outcome that is wrong.
struct WrongOutcome: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Throws unless a condition holds.
  static func unless(_ condition: Bool, _ description: @autoclosure () -> String) throws {
    if !condition { throw WrongOutcome(description()) }
  }
}

/// Measures a time in seconds.
struct Stopwatch {
  private let start = ContinuousClock.now

  var seconds: Double { start.duration(to: .now) / .seconds(1) }

  /// The seconds with two digits.
  var text: String { String(format: "%.2f s", seconds) }
}
