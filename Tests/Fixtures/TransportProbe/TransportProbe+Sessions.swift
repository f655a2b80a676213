import Foundation
import RequestBehaviors
import TestSupport

extension TransportProbe {
  /// Ends sessions in all the ways there are, some time before the process ends.
  ///
  /// It prints the number of requests that succeeded, and of those that were sent.
  ///
  /// - Parameters:
  ///   - text: The URL of a server, whose responses have a status of success.
  ///   - seconds: The time to wait before it prints, for a look at the connections that are left.
  /// - Throws: An error if a request fails.
  static func endSessions(to text: String, waiting seconds: Int) async throws {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    let file = FileManager.default.temporaryDirectory.appending(path: "sessions-\(UUID().uuidString)")
    try Data(count: 1 << 20).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var (sent, succeeded) = (0, 0)
    for _ in 0..<5 {
      let transport = URLSessionTransport(configuration: .init(handlesCookies: true))
      func send(_ method: RequestMethod, _ body: RequestBody? = nil) async throws {
        sent += 1
        if try await transport.send(NetworkRequest(method, url: url, body: body)).statusCode == 200 { succeeded += 1 }
      }
      try await send(.get)
      // Without a body and with a file: over connections of their own.
      try await send(.post)
      try await send(.put, .file(file))
      transport.forgetUser()
      try await send(.get)
      await transport.shutdown()
    }
    if seconds > 0 {
      print("connections:", try connections())
      try await Task.sleep(for: .seconds(seconds))
      print("connections:", try connections())
    }
    print("\(succeeded) of \(sent)")
  }

  /// Sends requests that have their own connections, and waits until these are closed.
  ///
  /// - Parameters:
  ///   - text: The URL of a server, whose responses have a status of success.
  ///   - count: The number of requests.
  /// - Throws: An error if a request fails.
  static func post(to text: String, _ count: Int) async throws {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    let transport = URLSessionTransport()
    var succeeded = 0
    for _ in 0..<count {
      if try await transport.send(NetworkRequest(.post, url: url)).statusCode == 200 { succeeded += 1 }
    }
    print("\(succeeded) of \(count)")
    var rounds = 300
    while rounds > 0, try connections() > count / 4 {
      try await Task.sleep(for: .milliseconds(100))
      rounds -= 1
    }
    print(rounds > 0 ? "closed" : "open: \(try connections())")
  }

  private static func connections() throws -> Int {
    let folder = "/proc/self/fd"
    let targets = try FileManager.default.contentsOfDirectory(atPath: folder).map {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }
    return targets.count { $0?.hasPrefix("socket:") == true }
  }
}
