import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

// A server in this process, so that the program runs as it is.
let server = try LoopbackServer { request in
  .json(#"{"bytes":\#(request.body.count)}"#, status: 201)
}

struct Receipt: Decodable {
  let bytes: Int
}

let film = FileManager.default.temporaryDirectory
  .appending(path: "film-\(UUID().uuidString).mp4")
try Data(count: 4 << 20).write(to: film)

let client = NetworkClient(
  baseURL: server.baseURL, behaviors: [.logging(), .retry()])
let progress = TransferProgress()

// On standard error, where it may be written over.
let shown = Task {
  for await state in progress.states {
    let percent = Int((state.fractionSent ?? 0) * 100)
    FileHandle.standardError.write(Data("\r\(percent) %".utf8))
  }
}
let receipt: Receipt = try await client.send(
  .post("films", body: .file(film, contentType: "video/mp4"))
    .with(\.progress, progress))
await shown.value
print("\nsent \(progress.state.sent) bytes, \(receipt.bytes) arrived")
