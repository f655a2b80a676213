import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

// A server in this process, whose job is done at the third look.
let server = try LoopbackServer { _ in
  .json(#"{"state":"done","url":"reports/7.pdf"}"#)
}
for _ in 1...2 {
  server.enqueue(
    LoopbackResponse.json(#"{"state":"running"}"#, status: 202)
      .header("retry-after-ms", "20"))
}

struct Job: Decodable {
  let state: String
  let url: String?
}

struct StillRunning: Error {}

let client = NetworkClient(
  baseURL: server.baseURL, behaviors: [.logging(), .retry()])

/// Asks as often as the server wants, but not forever.
func result(ofJob id: Int) async throws -> Job {
  for _ in 1...100 {
    let job = try await client.response(
      for: .get("jobs/\(id)").returning(Job.self))
    print(job.value.state)
    if job.value.state != "running" { return job.value }
    let wait = ServerHints(job.http).retryAfter ?? .seconds(2)
    try await Task.sleep(for: wait)
  }
  throw StillRunning()
}

let job = try await result(ofJob: 7)
print("the report is at \(job.url ?? "no URL")")
