import Foundation
import RequestBehaviors
public import RequestBehaviorsTesting

/// Serves a file of 6 parts, whole or from an offset; its content changes once.
private final class FileServer: @unchecked Sendable {
  // Unchecked, because only the simulation's thread uses it.
  var version = 1
  /// Whether it sends the rest of the file although the file is another one by now.
  var ignoresIfRange = false

  func content(_ version: Int) -> String { (0..<6).map { "part \($0) of \(version);" }.joined() }

  func respond(_ request: NetworkRequest, pause: Duration) -> SimulatedResponse {
    let tag = "\"\(version)\""
    let whole = Array(content(version).utf8)
    var headers: HeaderFields = ["ETag": tag, "Accept-Ranges": "bytes"]
    var bytes = whole[...]
    var status = 200
    let range = request.headers["Range"]?.dropFirst("bytes=".count).dropLast()
    if let offset = range.flatMap({ Int($0) }), offset < whole.count,
      ignoresIfRange || request.headers["If-Range"] == tag
    {
      (status, bytes) = (206, whole[offset...])
      headers["Content-Range"] = "bytes \(offset)-\(whole.count - 1)/\(whole.count)"
    }
    headers["Content-Length"] = "\(bytes.count)"
    var response = SimulatedResponse(statusCode: status, headers: headers)
    while !bytes.isEmpty {
      response.chunks.append(Data(bytes.prefix(14)))
      bytes = bytes.dropFirst(14)
    }
    response.pause = pause
    return response
  }
}

extension SimulatedWorld {
  /// Downloads of one file to two places, which break off, go on, are cancelled, and change on the server.
  public func buildDownloads() throws {
    let folder = try makeFolder()
    let server = FileServer()
    server.ignoresIfRange = includes("If-Range is ignored", chance: 0.3)
    let pause = Duration.milliseconds(number(in: 1..<500, "pause"))
    network.serve("files.example") { server.respond($0, pause: pause) }
    network.troubles = [.refused, .lostBefore, .cut, .serverError]
    network.troubleRate = 0.4
    span = .seconds(30)
    let client = client(
      baseURL: URL(string: "https://files.example")!, behaviors: commonBehaviors() + userBehaviors())
    let state = FileState()
    for number in 0..<5 {
      let place = folder.appending(path: "file\(number % 2)")
      call("download \(number)", mayBeCancelled: true) {
        _ = try await client.download(.get("file"), to: place)
        let text = String(decoding: try Data(contentsOf: place), as: UTF8.self)
        if !(1...server.version).contains(where: { server.content($0) == text }) {
          state.problems.append("download \(number) succeeded with \(text)")
        }
      }
    }
    if includes("new version") { action("the file changes") { server.version = 2 } }
    lastly("the file can be downloaded") { [unowned self] in
      try await clock.sleep(for: .seconds(120))
      _ = try await client.download(.get("file"), to: folder.appending(path: "last"))
    }
    check("a download that succeeds is a file of the server's") {
      try FileManager.default.removeItem(at: folder)
      if let problem = state.problems.first { throw BrokenRule(problem) }
      return true
    }
  }
}

/// All of it is used on the simulation's thread.
private final class FileState: @unchecked Sendable { var problems: [String] = [] }
