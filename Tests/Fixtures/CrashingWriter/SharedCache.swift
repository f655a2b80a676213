import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite

// One process of two that use one cache.

private struct User: RequestBehavior {
  func scope(for request: NetworkRequest) -> String? { "alice" }
}

/// Answers a GET when a line comes on standard input, and says before that it was asked.
private struct LineTransport: Transport {
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    if request.method == .get {
      FileHandle.standardOutput.write(Data("asked\n".utf8))
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          _ = readLine()
          continuation.resume()
        }
      }
    }
    return NetworkResponse(
      request: request, statusCode: 200, headers: ["Cache-Control": "max-age=86400"], body: .data(Data("old".utf8)))
  }

  func shutdown() async {}
}

private func client(_ file: String, _ onEvent: (@Sendable (CacheEvent) -> Void)? = nil) throws -> NetworkClient {
  NetworkClient(
    baseURL: URL(string: "https://api.example.com") ?? URL(filePath: "/"),
    behaviors: [.caching(try SQLiteCacheStore(path: file), onEvent: onEvent), User()], transport: LineTransport())
}

/// Removes what a response belongs to that another process has requested.
///
/// Arguments: the file, the path of the URL, "put", "signOut" or "reset".
func removeFromSharedCache(_ arguments: [String]) async throws {
  switch arguments[3] {
  case "put":
    _ = try await client(arguments[1]).send(Request<NetworkResponse>(.put, RequestPath(encoded: arguments[2])))
  case "signOut": await CachingBehavior(try SQLiteCacheStore(path: arguments[1])).scopeEnded("alice")
  default: await (try client(arguments[1])).reset()
  }
  FileHandle.standardOutput.write(Data("removed\n".utf8))
}

/// Requests a response, and tells what became of it: "stored", or why it is not.
///
/// Arguments: the file, the path of the URL.
func getThroughSharedCache(_ arguments: [String]) async throws {
  let client = try client(arguments[1]) { event in
    guard event.kind == .stored || event.kind == .notStored else { return }
    FileHandle.standardOutput.write(Data("\(event.refusal?.description ?? "stored")\n".utf8))
  }
  let request = Request<NetworkResponse>.get(RequestPath(encoded: arguments[2]))
  _ = try await client.send(request)
}
