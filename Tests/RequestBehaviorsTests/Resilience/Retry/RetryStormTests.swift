#if os(Linux) || os(macOS)
  import Foundation
  import TestSupport
  import Testing

  /// Many clients against a server that fails for a minute, in the simulated time of the program `RetryStorm`.
  @Suite(.limited) struct RetryStormTests {
    /// What the server got for each call, and at most in a tenth of a second.
    private struct Load {
      let amplification: Double
      let peak: Int
    }

    /// Runs the simulation of 200 clients, and returns the load by what they did about failures.
    private func loads() async throws -> [String: Load] {
      let program = try #require(ChildProcess.fixture("RetryStorm"))
      let lines = try await ChildProcess(program, ["200"]).end().text.split(separator: "\n").dropFirst(2)
      return Dictionary(
        uniqueKeysWithValues: try lines.map { line in
          let words = line.split(separator: " ")
          let load = Load(
            amplification: try #require(Double(words[0])), peak: try #require(Int(words[1])))
          return (words.dropFirst(4).joined(separator: " "), load)
        })
    }

    @Test func `with all defences a failing server gets no more than 1.2 requests a call`() async throws {
      let loads = try await loads()
      let bare = try #require(loads["retries alone"])
      let budget = try #require(loads["with budget"])
      let breaker = try #require(loads["with circuit breaker"])
      let all = try #require(loads["with budget and circuit breaker"])
      #expect(bare.amplification > 3.5)
      #expect(budget.amplification <= 1.5)
      #expect(breaker.amplification < 1)
      #expect(all.amplification <= 1.2)
    }

    @Test func `without jitter clients that failed together come back together`() async throws {
      let loads = try await loads()
      let regular = try #require(loads["retries alone, without jitter"])
      let spread = try #require(loads["retries alone"])
      // Of 200 clients, all three retries of a call fall into the same tenth of each second.
      #expect(regular.peak == 600)
      #expect(spread.peak < 300)
    }
  }
#endif
