import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// The rules for transports, recorded from a real server and played without one.
@Suite(.limited) struct CassetteConformanceTests {
  private let bench = CassetteBench()

  /// The rules that are not about what the server gets, about connections or about real time.
  private static let played: Set<String> = [
    "204, 304 and HEAD have no body", "a POST over a connection that went stale arrives whole or fails",
    "a bad chunk is an error of code badResponse", "a body as long as the limit is returned",
    "a body of a megabyte is whole", "a body that ends too early is an error of code truncatedBody",
    "a body that grows beyond the limit by decompression is cut off",
    "a connection lost before the response is an error of code connectionLost",
    "a connection reset within the body is an error of code connectionLost",
    "a head with a megabyte of fields is an error", "a length that no number can hold is an error of code badResponse",
    "a longer body is cut off", "a refused connection is an error of code cannotConnect",
    "a response that is not HTTP is an error of code badResponse", "a streamed body comes as the server sends it",
    "a streamed body follows its head", "a streamed body is ended by shutdown",
    "a streamed body is whole, however it is framed", "a streamed body of any status is returned",
    "a streamed body that failed delivers what came before the error",
    "a transfer coding other than chunks is an error of code badResponse",
    "bodies are whole, however they are framed", "contradicting lengths are an error of code badResponse",
    "every status is returned with its body", "header fields are returned, names in any case, several values too",
    "interim responses are read over", "nothing is cached", "progress begins anew with each send",
    "progress counts few bytes of a body", "progress counts the bytes of a file",
    "progress counts the bytes of a stream whose length is known", "progress counts the bytes of both bodies",
    "the transport works on after failures",
  ]

  private static var exclusions: [String: String] {
    var exclusions = URLSessionConformanceTests.exclusions
    exclusions["a streamed body keeps its transport, which goes with it"] = "it makes a second transport for the file"
    exclusions["a streamed body with a slow reader is whole"] = "its body is larger than a cassette may be"
    return exclusions
  }

  @Test(arguments: TransportConformance.cases.map(\.name).filter { exclusions[$0] == nil })
  func `a rule holds while it is recorded, and when it is played`(name: String) async throws {
    let item = try #require(TransportConformance.cases.first { $0.name == name })
    try await item.run { [bench] clock in
      try bench.cassette(.recordAll, over: URLSessionTransport(clock: clock))
    }
    guard CassetteConformanceTests.played.contains(name) else { return }
    try await item.run { [bench] _ in try bench.cassette(.replay, matching: .standard.ignoringOrigin()) }
  }

  @Test func `every rule in the list of played rules exists`() {
    #expect(CassetteConformanceTests.played.isSubset(of: TransportConformance.cases.map(\.name)))
  }
}
