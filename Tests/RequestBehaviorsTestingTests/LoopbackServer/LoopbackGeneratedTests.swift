import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

@Suite(.limited) struct LoopbackGeneratedTests {
  private let server: LoopbackServer

  init() throws { server = try LoopbackServer() }

  private func body(_ response: LoopbackResponse) async throws -> Data {
    server.enqueue(response)
    return try await URLSessionTransport().send(NetworkRequest(url: server.baseURL)).data
  }

  @Test(arguments: [false, true])
  func `a generated body is made piece by piece, cut and filled to its length`(isChunked: Bool) async throws {
    let response = LoopbackResponse.generated(pieces: 3, of: 4, chunked: isChunked) { index in
      Data(repeating: UInt8(ascii: "a") + UInt8(index), count: index + 3)
    }
    #expect(try await body(response) == Data("aaa\0bbbbcccc".utf8))
    #expect(response.description == "200 OK, 12 bytes")
    #expect(try await body(response.throttled(bytes: 5, every: .milliseconds(1))) == Data("aaa\0bbbbcccc".utf8))
    #expect(try await body(.generated(pieces: 0, of: 4, chunked: isChunked) { _ in Data() }).isEmpty)
  }

  @Test(arguments: [false, true])
  func `a generated body can be cut off in a piece`(isChunked: Bool) async throws {
    let response = LoopbackResponse.generated(pieces: 1_000_000_000, of: 1_000_000, chunked: isChunked) { _ in
      Data(count: 1_000_000)
    }
    let error = await #expect(throws: NetworkError.self) {
      try await body(response.fault(.close, at: .body(after: 1_500_000)))
    }
    #expect(error?.code == (isChunked ? .truncatedBody : .bodyTooLarge))
  }

  @Test(arguments: [
    LoopbackResponse.data(Data("abc".utf8), repeated: .max),
    .generated(pieces: .max, of: .max) { _ in Data() },
    .generated(pieces: .max, of: .max, chunked: true) { _ in Data() },
  ])
  func `a body of the largest numbers has a length`(response: LoopbackResponse) {
    #expect(response.description.hasPrefix("200 OK, 2"))
  }

  @Test func `a body that is throttled to the largest number of bytes goes out at once`() async throws {
    #expect(try await body(.text("abc").throttled(bytes: .max, every: .seconds(60))) == Data("abc".utf8))
  }
}
