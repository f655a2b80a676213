import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

/// Servers in this process: an API that echoes nonces, somebody else's server, and a captive portal.
struct OwnServers {
  let api: LoopbackServer
  let stranger: LoopbackServer
  let portal: LoopbackServer

  init() throws {
    let stranger = try LoopbackServer { _ in .text("a file on another server") }
    self.stranger = stranger
    let download = "\(stranger.baseURL)file"
    api = try LoopbackServer { request in
      OwnServers.answer(request, download: download).header("X-API-Nonce", request.headers["X-API-Nonce"] ?? "")
    }
    portal = try LoopbackServer { _ in .html("<h1>Welcome to the hotel. Please sign in.</h1>") }
  }

  private static func answer(_ request: LoopbackRequest, download: String) -> LoopbackResponse {
    switch request.path {
    case "/v1/users/octocat": .json(#"{"login":"octocat","name":"Mona"}"#)
    case "/v1/feed" where request.headers[.ifNoneMatch] == "\"v1\"":
      LoopbackResponse.status(304).header("ETag", "\"v1\"")
    case "/v1/feed":
      LoopbackResponse.json(#"["one","two"]"#).header("ETag", "\"v1\"").header("Cache-Control", "no-cache")
    case "/v1/notes/1", "/v1/notes/2": LoopbackResponse.status(204)
    case "/v1/download": .redirect(to: download)
    default: .json(#"{"message":"no such thing"}"#, status: 404)
    }
  }
}
