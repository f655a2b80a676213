#if os(Linux) || os(macOS)
  import Foundation

  /// A server that is faster than all measured code.
  ///
  /// It is nginx if that is installed, otherwise the loopback server. A profiler that cannot start programs measures
  /// beside a server that is running already: its URL of a body of 1 KB is in the environment as `SERVER_URL`.
  final class QuickServer {
    /// The program that serves.
    let name: String
    /// The URL of a body of 1 KB.
    let small: URL
    /// The URL of a body of 1 MB; `nil` if there is no such file.
    let large: URL?
    private let process: Process?
    private let directory: URL?
    private let fallback: Server?

    init() throws {
      if let url = ProcessInfo.processInfo.environment["SERVER_URL"].flatMap({ URL(string: $0) }) {
        (name, small, large) = ("the server at \(url)", url, nil)
        (process, directory, fallback) = (nil, nil, nil)
        return
      }
      guard FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx") else {
        let server = try Server()
        (name, small, large) = ("the loopback server, which is the bottleneck", server.baseURL, nil)
        (process, directory, fallback) = (nil, nil, server)
        return
      }
      let directory = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      try Data(repeating: 0x78, count: 1_000).write(to: directory.appending(path: "small"))
      try Data(repeating: 0x78, count: 1_000_000).write(to: directory.appending(path: "large"))
      let port = Int.random(in: 20_000..<30_000)
      let file = directory.appending(path: "nginx.conf")
      try Data(QuickServer.settings(directory.path, port).utf8).write(to: file)
      process = Process()
      process?.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
      process?.arguments = ["-p", directory.path, "-c", file.path, "-e", directory.appending(path: "log").path]
      try process?.run()
      Thread.sleep(forTimeInterval: 0.5)
      self.directory = directory
      fallback = nil
      name = "nginx with one worker"
      guard let base = URL(string: "http://127.0.0.1:\(port)/") else { throw URLError(.badURL) }
      small = base.appending(path: "small")
      large = base.appending(path: "large")
    }

    /// Ends the program and removes its files.
    ///
    /// It kills the program: a child of a pool's thread has that thread's blocked signals, and SIGTERM is one of them.
    func stop() {
      if let process {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
      fallback?.stop()
      if let directory { try? FileManager.default.removeItem(at: directory) }
    }

    /// Makes a file to serve, of varying bytes; `nil` if there is no program to serve it.
    func makeFile(megabytes: Int) throws -> URL? {
      guard let directory, let large else { return nil }
      let part = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
      let file = directory.appending(path: "huge")
      guard FileManager.default.createFile(atPath: file.path, contents: nil) else { return nil }
      let handle = try FileHandle(forWritingTo: file)
      for _ in 0..<megabytes { try handle.write(contentsOf: part) }
      try handle.close()
      return large.deletingLastPathComponent().appending(path: "huge")
    }

    private static func settings(_ directory: String, _ port: Int) -> String {
      """
      daemon off;
      master_process off;
      pid \(directory)/pid;
      events { worker_connections 1024; }
      http {
        access_log off;
        keepalive_requests 100000000;
        sendfile on;
        tcp_nopush on;
        open_file_cache max=100;
        client_body_temp_path \(directory)/body;
        proxy_temp_path \(directory)/proxy;
        fastcgi_temp_path \(directory)/fastcgi;
        uwsgi_temp_path \(directory)/uwsgi;
        scgi_temp_path \(directory)/scgi;
        server {
          listen 127.0.0.1:\(port);
          root \(directory);
          add_header X-API-Nonce $http_x_api_nonce;
          location /taken/ { return 204; }
        }
      }
      """
    }
  }
#endif
