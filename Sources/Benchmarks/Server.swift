import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

/// A loopback server in its own process, so that its cost is not counted.
final class Server {
  /// The number of bytes of `large`.
  static let largeCount = 64 << 20

  let baseURL: URL
  #if os(Linux) || os(macOS)
    private let process: Process

    /// Starts the server: this program again, with `--serve`.
    init() throws {
      process = Process()
      process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      if !FileManager.default.fileExists(atPath: "/proc/self/exe") {
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      }
      process.arguments = ["--serve"]
      let output = Pipe()
      process.standardOutput = output
      // The server ends when this pipe is closed, which happens at the latest when this program ends.
      process.standardInput = Pipe()
      try process.run()
      let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      guard let url = URL(string: line.trimmingCharacters(in: .whitespacesAndNewlines)), url.host != nil else {
        throw CocoaError(.executableLoad)
      }
      baseURL = url
    }

    func stop() { process.terminate() }
  #else
    // Processes cannot be started on this platform.
    init() throws { throw CocoaError(.featureUnsupported) }

    func stop() {}
  #endif

  /// Serves 1 KB of JSON, and `large`, and echoes nonces until standard input ends.
  static func serve() throws {
    let body = #"{"text":""# + String(repeating: "x", count: 1_000) + #""}"#
    let plain = LoopbackResponse.json(body)
    let large = LoopbackResponse.data(Data(repeating: 0x78, count: 256 << 10), repeated: largeCount / (256 << 10))
    let server = try LoopbackServer(options: .init(recordsRequests: false)) { request in
      if request.path == "/large" { return large }
      guard let nonce = request.headers["X-API-Nonce"] else { return plain }
      return plain.header("X-API-Nonce", nonce)
    }
    FileHandle.standardOutput.write(Data("\(server.baseURL)\n".utf8))
    _ = FileHandle.standardInput.readDataToEndOfFile()
    server.stop()
  }
}
