import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

/// Does what might end the process, or what needs one of its own to be measured, and tells how it went.
///
/// `get URL` sends one request; `soak COUNT` sends that many to a server of its own and prints how many threads and
/// bytes the process has gained.
@main
enum TransportProbe {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    switch (arguments.first, arguments.last) {
    case ("get", let text?): try await get(text)
    case ("soak", let text?): try await soak(Int(text) ?? 0)
    default: throw CocoaError(.featureUnsupported)
    }
  }

  private static func get(_ text: String) async throws {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    do {
      print(try await URLSessionTransport().send(NetworkRequest(url: url)).statusCode)
    } catch let error as NetworkError {
      print(error.code)
    }
  }

  private static func soak(_ count: Int) async throws {
    let server = try LoopbackServer(recordsRequests: false) { $0.path == "/401" ? challenge : .text("hello") }
    let transport = URLSessionTransport()
    try await send(count / 10, transport, server.baseURL)
    let (threads, bytes) = try (figure("Threads"), figure("VmRSS"))
    try await send(count, transport, server.baseURL)
    print(try figure("Threads") - threads, try (figure("VmRSS") - bytes) * 1_024)
  }

  private static let challenge = LoopbackResponse.text("who?", status: 401)
    .header("WWW-Authenticate", "Basic realm=\"x\"")

  /// Sends requests of several kinds, 20 at a time.
  private static func send(_ count: Int, _ transport: URLSessionTransport, _ base: URL) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<20 {
        group.addTask {
          for number in 0..<(count / 20) {
            let kind = (lane + number) % 10
            let url = base.appending(path: kind == 0 ? "401" : "x")
            let body = kind == 1 ? RequestBody.data(Data("hello".utf8)) : nil
            _ = try await transport.send(NetworkRequest(kind == 1 ? .post : .get, url: url, body: body))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// A figure of this process, as Linux tells it.
  private static func figure(_ name: String) throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    let line = lines.first { $0.hasPrefix(name + ":") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }
}
