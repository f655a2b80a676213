import Foundation
import RequestBehaviorsOAuth1
import TestSupport

#if os(Linux) || os(macOS)
  /// A service built on Python's oauthlib, in a process of its own; it ends when the instance is released.
  ///
  /// It has an app (`ck`, `cs-canary`), a signed-in user (`tk`, `ts-canary`), and the three steps of a sign-in at
  /// `request_token`, `authorize` and `access_token`; other paths answer whether the request is signed right.
  final class OAuthlibServer {
    let baseURL: URL
    private let process: ChildProcess

    private static let environment = URL(fileURLWithPath: "/usr/bin/env")

    /// Whether Python 3 and oauthlib are installed.
    static func isAvailable() async throws -> Bool {
      try await ChildProcess.run(environment, ["python3", "-c", "import oauthlib.oauth1"]).status == 0
    }

    /// Starts the service and waits until it listens.
    init() async throws {
      process = try ChildProcess(Self.environment, ["python3", "-c", Self.script])
      let line = await process.lines(1)
      let port = line.trimmingCharacters(in: .whitespacesAndNewlines)
      guard let url = URL(string: "http://127.0.0.1:\(port)/"), !port.isEmpty else {
        throw Failure("oauthlib: \(line)")
      }
      baseURL = url
    }

    private static let script = #"""
      import sys, threading, http.server
      from urllib.parse import parse_qs, urlsplit
      from oauthlib.oauth1 import RequestValidator, WebApplicationServer

      class Validator(RequestValidator):
          enforce_ssl = False
          client_key_length = request_token_length = access_token_length = (1, 60)
          nonce_length = (20, 60)
          verifier_length = (1, 60)
          dummy_client = dummy_request_token = dummy_access_token = "dummy"
          seen, requests, verifiers = set(), {}, {}
          access = {"tk": "ts-canary"}
          def check_nonce(self, nonce): return 20 <= len(nonce) <= 60
          def get_client_secret(self, key, request): return "cs-canary"
          def get_request_token_secret(self, key, token, request): return self.requests.get(token, ("", ""))[0]
          def get_access_token_secret(self, key, token, request): return self.access.get(token, "")
          def get_default_realms(self, key, request): return []
          def get_realms(self, token, request): return []
          def get_redirect_uri(self, token, request): return self.requests[token][1]
          def validate_client_key(self, key, request): return key == "ck"
          def validate_request_token(self, key, token, request): return token in self.requests
          def validate_access_token(self, key, token, request): return token in self.access
          def validate_redirect_uri(self, key, uri, request): return True
          def validate_requested_realms(self, key, realms, request): return True
          def validate_realms(self, key, token, request, uri=None, realms=None): return True
          def validate_verifier(self, key, token, verifier, request): return self.verifiers.get(token) == verifier
          def verify_request_token(self, token, request): return token in self.requests
          def verify_realms(self, token, realms, request): return True
          def invalidate_request_token(self, key, token, request): del self.requests[token]
          def save_request_token(self, token, request):
              self.requests[token["oauth_token"]] = (token["oauth_token_secret"], request.redirect_uri)
          def save_access_token(self, token, request): self.access[token["oauth_token"]] = token["oauth_token_secret"]
          def save_verifier(self, token, verifier, request): self.verifiers[token] = verifier["oauth_verifier"]
          def validate_timestamp_and_nonce(self, key, timestamp, nonce, request, request_token=None, access_token=None):
              use = (key, timestamp, nonce, request_token, access_token)
              if use in self.seen: return False
              self.seen.add(use)
              return True

      service = WebApplicationServer(Validator())

      class Handler(http.server.BaseHTTPRequestHandler):
          protocol_version = "HTTP/1.1"
          def log_message(self, *arguments): pass
          def answer(self):
              body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("latin-1")
              uri = "http://" + self.headers["Host"] + self.path
              arguments = (uri, self.command, body, dict(self.headers))
              path = urlsplit(self.path).path
              if path == "/request_token": headers, text, status = service.create_request_token_response(*arguments)
              elif path == "/access_token": headers, text, status = service.create_access_token_response(*arguments)
              elif path == "/authorize": headers, text, status = service.create_authorization_response(*arguments)
              else:
                  valid, request = service.validate_protected_resource_request(*arguments)
                  headers, text, status = {}, "fine" if valid else "refused", 200 if valid else 401
              data = (text or "").encode()
              self.send_response(status)
              for name, value in headers.items(): self.send_header(name, value)
              self.send_header("Content-Length", str(len(data)))
              self.end_headers()
              self.wfile.write(data)
          do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      threading.Thread(target=server.serve_forever, daemon=True).start()
      print(server.server_address[1], flush=True)
      sys.stdin.read()
      """#
  }
#endif
