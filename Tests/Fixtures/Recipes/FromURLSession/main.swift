import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

// A server in this process, so that the program runs as it is.
let server = try LoopbackServer { request in
  request.query == "state=open"
    ? .json(#"[{"id":7,"title":"Typo"}]"#)
    : .json(#"{"message":"no such state"}"#, status: 422)
}

struct Issue: Decodable {
  let id: Int
  let title: String
}

struct APIError: Decodable {
  let message: String
}

let client = NetworkClient(
  baseURL: server.baseURL, behaviors: [.logging(), .bearer("s3cret")])

func issues(_ state: String) async throws -> [Issue] {
  try await client.send(
    .get("issues", query: ["state": state])
      .with(\.idleTimeout, .seconds(30)))
}

for issue in try await issues("open") {
  print(issue.id, issue.title)
}
do {
  _ = try await issues("lost")
} catch let error as NetworkError where error.statusCode == 422 {
  print("refused:", try error.decode(APIError.self).message)
}
