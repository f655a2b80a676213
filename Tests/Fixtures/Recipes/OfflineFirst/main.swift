import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite
import RequestBehaviorsTesting

// A server in this process, which will go away.
let server = try LoopbackServer { request in
  let response: LoopbackResponse =
    request.headers["If-None-Match"] == "\"1\""
    ? .status(304) : .json(#"["tea","milk"]"#)
  return response.header("ETag", "\"1\"")
    .header("Cache-Control", "max-age=60")
}

// An app keeps this file in its caches folder.
let file = FileManager.default.temporaryDirectory
  .appending(path: "shopping-\(UUID().uuidString).sqlite")
let cache = try SQLiteCacheStore(path: file.path(percentEncoded: false))
let client = NetworkClient(
  baseURL: server.baseURL, behaviors: [.caching(cache)])

/// Shows the list as it is stored, then as the server has it.
func show() async {
  let list = Request<[String]>.get("shopping")
  for mode in [CachingMode.preferStale, .revalidate] {
    do {
      let response = try await client.response(
        for: list.with(\.caching, mode))
      print(response.http.source, response.value)
    } catch let error as NetworkError where error.isTransient {
      print("not refreshed, the server cannot be reached")
    } catch {
      print("not refreshed: \(error)")
    }
  }
}

print("online:")
await show()
server.stop()
print("offline:")
await show()
