#if os(Linux) || os(macOS)
  import Foundation
  import TestSupport
  import Testing

  /// Clients that call at random times, in three outages of a minute, in the simulated time of the program `RetryStorm`.
  ///
  /// The article "Surviving a bad network" tells the figures of larger fleets.
  @Suite(.limited) struct FleetStormTests {
    /// What the server got for each call, and how many per cent of the calls succeeded from 2 seconds after it on.
    private struct Figures {
      let amplification: Double
      let success: Double
    }

    private static let outages = ["fails", "hangs", "slow"]

    /// Runs the simulation of about twenty calls a second, and returns the figures by what the clients have.
    private func figures(_ outage: String, _ rate: String, _ extent: String = "brief") async throws -> [String: Figures]
    {
      let program = try #require(ChildProcess.fixture("RetryStorm"))
      let text = try await ChildProcess(program, ["fleet", "20", outage, rate, extent]).end().text
      let lines = text.split(separator: "\n")
      return Dictionary(
        uniqueKeysWithValues: try lines.dropFirst(2).map { line in
          let words = line.split(separator: " ")
          let figures = Figures(
            amplification: try #require(Double(words[2])), success: try #require(Double(words[5])))
          return (words.dropFirst(7).joined(separator: " "), figures)
        })
    }

    @Test(arguments: outages, ["0.1", "1", "10"])
    func
      `at any rate a server in trouble gets at most 1.3 requests a call, and calls succeed 2 seconds after it is back`(
        outage: String, rate: String
      ) async throws
    {
      let figures = try await figures(outage, rate)
      for defence in ["with budget", "with budget, circuit breaker and hedging"] {
        let own = try #require(figures[defence])
        #expect(own.amplification <= 1.3, "\(defence)")
        #expect(own.success >= 99, "\(defence)")
      }
    }

    @Test func `hedging that does not look at the load doubles that of a server that hangs`() async throws {
      let figures = try await figures("hangs", "10", "whole")
      #expect(try #require(figures["retries alone"]).amplification > 3)
      #expect(try #require(figures["with budget and hedging"]).amplification <= 1.3)
      #expect(try #require(figures["with budget, and hedging under overload"]).amplification > 2)
    }

    @Test(arguments: outages)
    func `a client that makes a call during an outage repeats it once at most`(outage: String) async throws {
      let figures = try await figures(outage, "0.01")
      #expect(try #require(figures["with budget, circuit breaker and hedging"]).amplification < 2)
    }
  }
#endif
