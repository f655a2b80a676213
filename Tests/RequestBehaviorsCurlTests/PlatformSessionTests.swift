#if os(Linux) && canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsTesting
  import TestSupport
  import Testing

  /// URLSession over TLS, in a program that sees the authority of the server among those of the system.
  @Suite(.limited, .enabled(if: SecureServer.absence == nil, "\(SecureServer.absence ?? "")"))
  struct PlatformSessionTests {
    /// Places where libcurl may look for authorities: of Debian, and of Red Hat, for which PyPI's is made.
    private static let bundles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

    /// Runs a program that trusts the authority of a server.
    private func run(
      _ command: String, at path: String, of door: SecureServer.Door = .secure, _ number: Int
    ) async throws -> ChildProcess.Result {
      let server = try await SecureServer.shared()
      let files = server.directory.appending(path: "etc-\(UUID().uuidString)").path(percentEncoded: false)
      let authority = server.directory.appending(path: "ca.pem").path(percentEncoded: false)
      let copies = Self.bundles.map { "mkdir -p $(dirname '\(files)\($0)') && cp '\(authority)' '\(files)\($0)'" }
      let rest = "cp /etc/hosts /etc/nsswitch.conf /etc/ld.so.cache '\(files)/etc/'"
      let script = (copies + [rest, "mount --bind '\(files)/etc' /etc"]).joined(separator: " && ")
      let program = try #require(ChildProcess.fixture("TransportProbe"))
      let url = try server.url(door, path: path)
      return try await PrivateMounts.start(script, program, [command, url.absoluteString, "\(number)"]).end()
    }

    /// With libcurl 8.9 and later each of these ends would end the process, if the session were released at once.
    @Test(.enabled("mounts are not allowed here") { await PrivateMounts.areAllowed() })
    func `the end of sessions over TLS does not end the process`() async throws {
      let result = try await run("sessions", at: "back/", 0)
      #expect(result.text == "20 of 20\n")
      #expect(!result.wasKilled)
    }

    /// With libcurl 8.9 and later they stay for two minutes over HTTP/2.
    @Test(.enabled("mounts are not allowed here") { await PrivateMounts.areAllowed() })
    func `the connections of requests without a body are soon closed over HTTP 1`() async throws {
      #expect(try await run("posts", at: "back/", of: .withoutHTTP2, 40).text == "40 of 40\nclosed\n")
    }

    /// With libcurl 7.88 uploads that shared their connection would damage many of these downloads.
    @Test(.enabled("mounts are not allowed here") { await PrivateMounts.areAllowed() })
    func `uploads over HTTP 2 do not damage downloads`() async throws {
      #expect(try await run("mix", at: "", 4).text == "96 of 96\n")
    }
  }
#endif
