import CSlowDisk
import Foundation
import RequestBehaviors

/// Sends one request, and tells what that came to, and whether the session is signed in then.
///
/// Where it is told to pause, it writes a line and waits for one, so that a test can stop it right there.
struct SessionProcess {
  let store: any TokenStore
  let baseURL: URL
  /// `source`: before the source sends its request; `transport`: when that request has passed all checks; `response`:
  /// when its response has come and nothing is stored; `fsync` and `rename`: when the file of the new token is put on
  /// the disk and in its place (on Linux); `start`: before anything is done.
  ///
  /// With `remove ` before `rename` or `unlink` it removes the stored token in place of a request, and tells
  /// whether it was still there.
  let pause: String

  func run() async throws {
    let pause = pause
    if pause == "start" { await waitForLine() }
    if pause == "fsync" || pause == "rename" { slow_disk_pause_at(pause) }
    if pause.hasPrefix("remove ") {
      let token = try await store.load()
      slow_disk_pause_at(String(pause.dropFirst(7)))
      return tell(try await store.replace(token, with: nil) ? "removed" : "not removed")
    }
    let endpoint = TokenEndpoint("token", clientID: "app")
    let session = TokenSession(
      source: .refreshing { token, client in
        if pause == "source" { await waitForLine() }
        return try await RefreshTokenGrant(endpoint).refresh(token, using: client)
      }, store: store)
    let client = NetworkClient(
      baseURL: baseURL, behaviors: [.tokenAuth(session)],
      transport: PausingTransport(base: URLSessionTransport(), pause: pause))
    do {
      try await client.send(.get("a"))
      tell("sent")
    } catch { tell("failed \((error as? NetworkError)?.code.rawValue ?? "otherwise")") }
    tell(try await session.isSignedIn() ? "signed in" : "signed out")
  }
}

/// Holds token requests back at the last moment, or their responses at the first.
private struct PausingTransport: Transport {
  let base: URLSessionTransport
  let pause: String

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    let isForToken = request.url.lastPathComponent == "token"
    if isForToken, pause == "transport" { await waitForLine() }
    let response = try await base.send(request)
    if isForToken, pause == "response" { await waitForLine() }
    return response
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
