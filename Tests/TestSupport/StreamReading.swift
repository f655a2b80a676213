import Foundation
public import RequestBehaviors

/// Reads the streamed response of `large` when a line of standard input says so, in bursts between which it sends other
/// requests, and prints how many bytes came and by how many bytes the most memory has grown.
///
/// - Parameter client: Whose server has `large` and `small`.
/// - Throws: What the client throws.
public func readStream(with client: NetworkClient) async throws {
  for _ in 1...10 { _ = try await client.send(.get("small").returning(Data.self)) }
  let before = try processFigure("VmHWM")
  let response = try await client.stream(.get("large"))
  // At once, where `print` would keep it.
  FileHandle.standardOutput.write(Data("head\n".utf8))
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      _ = readLine()
      continuation.resume()
    }
  }
  var (count, burst) = (0, 0)
  for try await chunk in response.bytes {
    count += chunk.count
    burst += chunk.count
    guard burst > 16 << 20 else { continue }
    burst = 0
    _ = try await client.send(.get("small").returning(Data.self))
  }
  print(count, (try processFigure("VmHWM") - before) * 1_024)
}

/// A figure of this process, as Linux tells it.
///
/// - Parameter name: Its name in the status of the process, such as `VmRSS`, which is in KiB.
/// - Returns: Its value, 0 if there is none.
/// - Throws: `CocoaError` where there is no such file.
public func processFigure(_ name: String) throws -> Int {
  let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
  let line = lines.first { $0.hasPrefix(name + ":") }
  return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
}
