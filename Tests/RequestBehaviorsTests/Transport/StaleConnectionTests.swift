import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// A server may close an idle connection at the very moment at which a client uses it again.
///
/// URLSession then sends the request again by itself.
@Suite struct StaleConnectionTests {
  @Test(arguments: [HTTPMethod.post, .put, .patch, .delete, "REPORT", .query])
  func `a body is not sent again without its bytes, and nothing hangs`(method: HTTPMethod) async throws {
    for round in 0..<8 {
      let server = try LoopbackServer { .text($0.text) }
      server.enqueue(.text("warm").fault(round % 2 == 0 ? .close : .reset, at: .nextRequest))
      let transport = URLSessionTransport()
      _ = try await transport.send(server.request())
      do {
        let response = try await transport.send(server.request(method, body: .data(Data("hello".utf8))))
        print(method, round, "response", try response.text)
        #expect(try response.text == "hello")
      } catch let error as NetworkError {
        print(method, round, error)
        #expect(error.code == .connectionLost)
      }
      print(server.requests.map { "\($0.method) \($0.text)" }, server.connectionCount)
      #expect(server.requests.dropFirst().allSatisfy { $0.text == "hello" })
    }
  }

  @Test(arguments: [HTTPMethod.post, .put, .patch, .delete, "REPORT", .get])
  func `without a body`(method: HTTPMethod) async throws {
    for round in 0..<8 {
      let server = try LoopbackServer { .text($0.text) }
      server.enqueue(.text("warm").fault(round % 2 == 0 ? .close : .reset, at: .nextRequest))
      let transport = URLSessionTransport()
      _ = try await transport.send(server.request())
      do {
        let response = try await transport.send(server.request(method))
        print(method, round, "response", try response.text)
      } catch let error as NetworkError {
        print(method, round, error)
      }
      print(server.requests.map { "\($0.method) \($0.text)" }, server.connectionCount)
    }
  }
}
