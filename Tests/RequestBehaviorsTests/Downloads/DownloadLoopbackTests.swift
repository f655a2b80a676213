import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// Downloads over real connections that break off.
@Suite(.limited) struct DownloadLoopbackTests {
  private let files: DownloadFixture
  private let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

  init() throws { files = try DownloadFixture() }

  private var file: LoopbackResponse { LoopbackResponse.data(content).header("ETag", "\"a\"") }

  private func client(_ server: LoopbackServer) -> NetworkClient {
    NetworkClient(
      baseURL: server.baseURL, behaviors: [.retry(RetryPolicy(backoff: Backoff(base: .zero, floor: .zero)))])
  }

  @Test func `a download keeps its bytes when the connection is lost twice in mid-body`() async throws {
    let file = file
    let cuts = Box([LoopbackFault.close, .reset])
    let server = try LoopbackServer { request in
      let part = file.part(for: request)
      guard let fault = cuts.update({ $0.isEmpty ? nil : $0.removeFirst() }) else { return part }
      return part.fault(fault, at: .body(after: 400_000))
    }
    let response = try await client(server).download(.get("file"), to: files.destination)
    #expect(try Data(contentsOf: files.destination) == content)
    #expect(try files.names == ["file.bin"])
    #expect(response.headers["Content-Length"] == "1000000")
    let requests = server.requests
    #expect(requests.count == 3)
    #expect(requests.map { $0.headers["If-Range"] } == [nil, "\"a\"", "\"a\""])
    #expect(requests.allSatisfy { $0.headers["Accept-Encoding"] == "identity" })
  }

  @Test func `a file that changes between two parts is downloaded whole in its new version`() async throws {
    let (file, other) = (file, LoopbackResponse.text("another").header("ETag", "\"b\""))
    let count = Box(0)
    let server = try LoopbackServer { request in
      let isFirst = count.update { count in
        count += 1
        return count == 1
      }
      return isFirst ? file.fault(.close, at: .body(after: 400_000)) : other.part(for: request)
    }
    try await client(server).download(.get("file"), to: files.destination)
    #expect(try Data(contentsOf: files.destination) == Data("another".utf8))
  }
}
