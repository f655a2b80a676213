import Foundation
import RequestBehaviors

extension TransportConformance {
  /// One thing that a transport must do.
  public struct Case: Sendable, CustomStringConvertible {
    /// What must hold, such as "redirects are returned"; names the case in exclusions.
    public let name: String
    private let check: @Sendable (ConformanceBench) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (ConformanceBench) async throws -> Void) {
      self.name = name
      self.check = check
    }

    /// The name.
    public var description: String { name }

    /// Checks a transport.
    ///
    /// - Parameters:
    ///   - limit: How long it may take, in real time; 20 seconds by default.
    ///   - makeTransport: Makes the transport.
    /// - Throws: ``Failure`` that tells what did not hold; whatever the transport throws where it should not.
    public func run(within limit: Duration = .seconds(20), _ makeTransport: @escaping Factory) async throws {
      let pending = PendingResult<Void>()
      let watchdog = Task {
        guard (try? await RequestClock.system.sleep(for: limit)) != nil else { return }
        pending.end(.failure(Failure("it was not over after \(limit)")))
      }
      defer { watchdog.cancel() }
      try await pending.run {
        let bench = try await ConformanceBench(makeTransport)
        defer { bench.server.stop() }
        do {
          try await check(bench)
        } catch {
          await bench.transport.shutdown()
          throw error
        }
        await bench.transport.shutdown()
      }
    }
  }

  /// What a transport did that it must not do.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// What was found, and what was wanted.
    public let description: String

    init(_ description: String) { self.description = description }
  }
}
