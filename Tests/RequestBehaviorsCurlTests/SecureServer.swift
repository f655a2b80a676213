#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport

  /// nginx with certificates of its own, for what needs a real server: TLS, HTTP/2, IPv6.
  final class SecureServer: Sendable {
    /// A place where it listens.
    enum Door: Int, CaseIterable {
      /// Over TLS 1.2 and later, with HTTP/2 for those who want it, over IPv4 and IPv6.
      case secure
      /// Demands a client's certificate.
      case clientCertificate
      case onlyTLS11
      case onlyTLS12
      /// Has the certificate of another host.
      case otherHost
      /// Has a certificate whose time is over.
      case expired
      /// Like `secure`, but a connection is for two requests: HTTP/2 refuses further ones without processing them.
      case twoRequests
      /// Over HTTP/1.1 only.
      case withoutHTTP2
      /// Without TLS.
      case plain
    }

    /// Why there is no such server here; `nil` if there is.
    static let absence: String? = {
      for name in ["nginx", "openssl"] where path(name) == nil { return "\(name) is not installed" }
      return nil
    }()

    static func path(_ name: String) -> URL? {
      ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { URL(fileURLWithPath: "\($0)/\(name)") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    let directory: URL
    private let ports: [Int]
    private let process: ChildProcess
    /// The server behind `/back/`.
    let backend: LoopbackServer

    /// The server that all tests that run at a time share; it ends with the last of them.
    static func shared() async throws -> SecureServer { try await shares.server() }

    private static let shares = Shares()

    private actor Shares {
      private weak var current: SecureServer?
      private var making: Task<SecureServer, any Error>?

      func server() async throws -> SecureServer {
        if let current { return current }
        let task = making ?? Task { try await SecureServer() }
        making = task
        defer { making = nil }
        let server = try await task.value
        current = server
        return server
      }
    }

    /// Ends the server with all of its connections.
    func kill() async { _ = await process.kill(afterLines: 0) }

    init() async throws {
      directory = FileManager.default.temporaryDirectory.appending(path: "secure-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      backend = try LoopbackServer { .text("\($0.method) \($0.body.count)") }
      // Free ports, which no other process is likely to take before the server does.
      let holders = try Door.allCases.map { _ in try LoopbackServer() }
      ports = holders.map { Int($0.port) }
      for holder in holders { holder.stop() }
      guard let nginx = SecureServer.path("nginx") else { throw CocoaError(.fileNoSuchFile) }
      let shell = URL(fileURLWithPath: "/bin/sh")
      let script = "cd '\(directory.path)'\n\(SecureServer.certificates)"
      let made = try await ChildProcess.run(shell, ["-e", "-c", script])
      guard made.status == 0 else { throw CocoaError(.executableLoad) }
      // No part of it is like another, so that a part in the wrong place is noticed.
      let numbers = (0..<UInt32(1 << 20)).map(\.littleEndian)
      try numbers.withUnsafeBytes { Data($0) }.write(to: directory.appending(path: "large"))
      let file = directory.appending(path: "nginx.conf")
      try Data(SecureServer.settings(directory.path, ports, backend.port).utf8).write(to: file)
      process = try ChildProcess(
        nginx, ["-p", directory.path, "-c", file.path, "-e", directory.appending(path: "log").path], keepsErrors: true)
      try await waitUntilItListens()
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func waitUntilItListens() async throws {
      let transport = URLSessionTransport()
      let request = NetworkRequest(url: try url(.plain, host: "127.0.0.1"))
      let listens = try await eventually { (try? await transport.send(request)) != nil }
      if !listens { throw CocoaError(.executableLoad) }
    }

    /// The URL of a door.
    func url(_ door: Door, host: String = "localhost", path: String = "") throws -> URL {
      let scheme = door == .plain ? "http" : "https"
      let url = URL(string: "\(scheme)://\(host):\(ports[door.rawValue])/\(path)")
      guard let url else { throw URLError(.badURL) }
      return url
    }

    func text(_ name: String) throws -> String {
      try String(contentsOf: directory.appending(path: name), encoding: .utf8)
    }

    func certificate(_ name: String) throws -> X509Certificate {
      try X509Certificate.certificates(pem: text("\(name).pem"))[0]
    }

    /// The policy that trusts the server's authority only.
    var trust: TrustPolicy { get throws { try .anchors([certificate("ca")]) } }

    private static let certificates = """
      key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key" 2> /dev/null; }
      key ca
      openssl req -x509 -new -key ca.key -subj /CN=Authority -days 2 -out ca.pem 2> /dev/null
      sign() { # name subject names days
        key "$1"
        openssl req -new -key "$1.key" -subj "$2" -out "$1.csr" 2> /dev/null
        printf 'subjectAltName=%s' "$3" > "$1.ext"
        openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -extfile "$1.ext" -out "$1.pem" $4 \
          2> /dev/null
      }
      sign server /CN=localhost 'DNS:localhost,IP:127.0.0.1,IP:::1' '-days 1'
      sign other /CN=other.test DNS:other.test '-days 1'
      sign client /CN=client DNS:client.test '-days 1'
      key expired
      printf 'subjectAltName=DNS:localhost' > expired.ext
      openssl req -new -key expired.key -subj /CN=localhost -out expired.csr 2> /dev/null
      mkdir db && : > db/index && echo 77 > db/serial
      printf '[ca]\\ndefault_ca=a\\n[a]\\ndatabase=db/index\\nserial=db/serial\\nnew_certs_dir=db\\ndefault_md=sha256\\n\
      policy=p\\n[p]\\ncommonName=supplied\\n' | sed 's/^ *//' > ca.cnf
      openssl ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -in expired.csr -out expired.pem -notext \
        -startdate 20200101000000Z -enddate 20200102000000Z -extfile expired.ext 2> /dev/null
      openssl pkcs12 -export -inkey client.key -in client.pem -passout pass:secret -out client.p12
      """

    private static func settings(_ directory: String, _ ports: [Int], _ backend: UInt16) -> String {
      func secure(_ door: Door, _ certificate: String, _ more: String = "") -> String {
        """
        server {
          listen 127.0.0.1:\(ports[door.rawValue]) ssl \(door == .withoutHTTP2 ? "" : "http2");
          \(door == .secure ? "listen [::1]:\(ports[door.rawValue]) ssl http2;" : "")
          ssl_certificate \(certificate).pem;
          ssl_certificate_key \(certificate).key;
          \(more)
          \(locations)
        }
        """
      }
      let locations = """
        location = / { return 200 "$ssl_protocol $server_protocol $ssl_client_s_dn"; }
        location = /session { return 200 "$ssl_session_reused"; }
        location /back/ {
          proxy_pass http://127.0.0.1:\(backend)/;
          proxy_http_version 1.1;
          proxy_set_header X-Connection $connection;
          proxy_request_buffering off;
        }
        location ~ ^/gate/(?<port>[0-9]+)/ {
          proxy_pass http://127.0.0.1:$port$gated;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_buffering off;
          proxy_buffer_size 256k;
          proxy_buffers 4 256k;
          proxy_busy_buffers_size 512k;
          proxy_request_buffering off;
        }
        location = /large { alias \(directory)/large; }
        location = /packed { alias \(directory)/large; gzip on; gzip_types *; }
        location = /buffered/ { proxy_pass http://127.0.0.1:\(backend)/; proxy_request_buffering on; }
        """
      return """
        daemon off;
        master_process off;
        pid \(directory)/pid;
        events { worker_connections 1024; }
        http {
          access_log off;
          map $request_uri $gated { "~^/gate/[0-9]+(?<rest>/.*)$" $rest; }
          merge_slashes off;
          ignore_invalid_headers off;
          large_client_header_buffers 8 1m;
          ssl_session_cache shared:sessions:1m;
          client_max_body_size 0;
          client_body_temp_path \(directory)/body;
          proxy_temp_path \(directory)/proxy;
          fastcgi_temp_path \(directory)/fastcgi;
          uwsgi_temp_path \(directory)/uwsgi;
          scgi_temp_path \(directory)/scgi;
          \(secure(.secure, "server", "ssl_protocols TLSv1.2 TLSv1.3;"))
          \(secure(.clientCertificate, "server", "ssl_client_certificate ca.pem; ssl_verify_client on;"))
          \(secure(.onlyTLS11, "server", "ssl_protocols TLSv1.1; ssl_ciphers DEFAULT@SECLEVEL=0;"))
          \(secure(.onlyTLS12, "server", "ssl_protocols TLSv1.2;"))
          \(secure(.otherHost, "other"))
          \(secure(.expired, "expired"))
          \(secure(.twoRequests, "server", "keepalive_requests 2;"))
          \(secure(.withoutHTTP2, "server"))
          server {
            listen 127.0.0.1:\(ports[Door.plain.rawValue]);
            listen [::1]:\(ports[Door.plain.rawValue]);
            \(locations)
          }
        }
        """
    }
  }
#endif
