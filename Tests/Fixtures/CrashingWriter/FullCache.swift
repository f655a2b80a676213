import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsSQLite

// A cache on a small disk that another program, or its own log, has filled.

private struct SizeTransport: Transport {
  let size: Int

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    NetworkResponse(
      request: request, statusCode: 200, headers: ["Cache-Control": "max-age=86400"],
      body: .data(Data(repeating: 1, count: size)))
  }

  func shutdown() async {}
}

/// Fills the disk of a folder until so many bytes are left.
private func fill(_ folder: String, leaving rest: Int) throws {
  let file = open(folder + "/other", O_WRONLY | O_CREAT | O_APPEND, 0o600)
  guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
  defer { close(file) }
  let page = [UInt8](repeating: 0, count: 4_096)
  while write(file, page, page.count) > 0 {}
  guard ftruncate(file, lseek(file, 0, SEEK_END) - off_t(rest)) == 0 else { throw CocoaError(.fileWriteUnknown) }
}

/// Stores eight bodies, fills the disk, perhaps removes everything, and stores one more.
///
/// Arguments: the folder, the size of a body, the bytes that are left on the disk, "keep" or "remove". It tells what
/// becomes of each, and how many are stored. With "many" it leaves the disk alone, stores 200 more, and tells whether
/// the last response is stored.
func useFullCache(_ arguments: [String]) async throws {
  guard arguments.count == 6, let size = Int(arguments[2]), let rest = Int(arguments[3]) else { exit(2) }
  @Sendable func tell(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
  let store = try SQLiteCacheStore(path: arguments[1] + "/cache.sqlite")
  let client = NetworkClient(
    baseURL: URL(string: "https://api.example.com") ?? URL(filePath: "/"),
    behaviors: [.caching(store) { if $0.kind != .miss, arguments[4] != "many" { tell("\($0.kind) ") } }],
    transport: SizeTransport(size: size))
  for number in 0..<8 { _ = try await client.send(.get("\(number)")) as NetworkResponse }
  if arguments[4] == "many" {
    for number in 8..<200 { _ = try await client.send(.get("\(number)")) as NetworkResponse }
    // A file that has just begun anew does not take the response that filled the old one.
    for _ in 0..<2 { _ = try await client.send(.get("last")) as NetworkResponse }
    let last: NetworkResponse = try await client.send(.get("last"))
    return tell("\(last.source)\n")
  }
  try fill(arguments[1], leaving: rest)
  if arguments[4] == "remove" { try await store.removeAll() }
  _ = try await client.send(.get("8")) as NetworkResponse
  tell("\(try await store.entries(limit: 99).count)\n")
}
