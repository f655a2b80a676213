import Foundation
import RequestBehaviors

/// Sends one request, and tells the status that it came to, and whether the session is signed in then.
///
/// Where it is told to pause, it writes a line and waits for one, so that a test can stop it right there.
struct SessionProcess {
  let store: any TokenStore
  let baseURL: URL
  /// `source`: before the source sends its request; `transport`: when that request has passed all checks; `start`: before
  /// anything is done.
  let pause: String

  func run() async throws {
    let pause = pause
    if pause == "start" { await waitForLine() }
    let endpoint = TokenEndpoint("token", clientID: "app")
    let session = TokenSession(
      source: .refreshing { token, client in
        if pause == "source" { await waitForLine() }
        return try await RefreshTokenGrant(endpoint).refresh(token, using: client)
      }, store: store)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.tokenAuth(session)],
      transport: PausingTransport(base: URLSessionTransport(), pauses: pause == "transport"))
    do {
      try await client.send(.get("a"))
      tell("sent")
    } catch { tell("failed \((error as? NetworkError)?.code.rawValue ?? "otherwise")") }
    tell(try await session.isSignedIn() ? "signed in" : "signed out")
  }
}

/// Holds token requests back at the last moment.
private struct PausingTransport: Transport {
  let base: URLSessionTransport
  let pauses: Bool

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    if pauses, request.url.lastPathComponent == "token" { await waitForLine() }
    return try await base.send(request)
  }

  func shutdown() async { await base.shutdown() }
}

/// Writes a line and waits for the test to write one.
private func waitForLine() async {
  tell("paused")
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      _ = FileHandle.standardInput.availableData
      continuation.resume()
    }
  }
}
