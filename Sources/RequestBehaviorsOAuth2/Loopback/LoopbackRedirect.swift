#if !os(Windows) && !os(WASI)
  public import Foundation
  public import RequestBehaviors

  /// A redirect URI on this machine, to which the browser brings the callback of a sign-in (RFC 8252 §7.3).
  ///
  /// ```swift
  /// let loopback = try LoopbackRedirect()
  /// let flow = OAuth2Flow(
  ///   session: session, endpoint: endpoint,
  ///   redirectURI: loopback.url, over: client)
  /// try await flow.signIn { url in
  ///   print("Open \(url)")
  ///   return try await loopback.callback(for: url)
  /// }
  /// ```
  ///
  /// It is for command-line tools and desktop apps. It listens on 127.0.0.1 only, on ::1 where there is no IPv4, until
  /// the object is gone. Only a `GET` of the exact path, with the right `Host` and the state of the sign-in, ends a
  /// sign-in; all else gets 400, 404 or 405 and changes nothing. A callback that comes before ``callback(for:)`` is
  /// kept for it, and its page says so; the 16 newest are kept.
  public final class LoopbackRedirect: Sendable {
    /// The redirect URI, such as `http://127.0.0.1:49152/`.
    ///
    /// Servers must accept any port (§7.3); for one that does not, choose the port.
    public let url: URL
    private let listener: LoopbackListener
    private let clock: RequestClock

    /// The time after which a sign-in ends without a callback.
    private static let limit = Duration.seconds(300)

    /// Creates a redirect URI, and listens.
    ///
    /// - Parameters:
    ///   - port: The port; by default one that the system chooses.
    ///   - path: The path; `/` by default.
    ///   - page: The text or HTML that the browser shows after a consent, at most 64 KiB; by default a sentence. The
    ///     code has not been exchanged then. After a refusal the browser shows a sentence that says so.
    ///   - clock: The clock of the time limits; the system's by default.
    /// - Throws: `NetworkError` of code `oauth2InvalidServer` if the port is in use, the path has no slash in front, or
    ///   the page is too long.
    public init(
      port: UInt16 = 0, path: String = "/",
      page: String = "The sign-in goes on in the program. You can close this page.\n", clock: RequestClock = .system
    ) throws {
      listener = try LoopbackListener(port: port, path: path, page: page, clock: clock)
      url = listener.url
      self.clock = clock
    }

    deinit { listener.stop() }

    /// Waits for the callback of a sign-in.
    ///
    /// A second wait for the same sign-in cancels the first.
    ///
    /// - Parameter page: The page that the browser was sent to; its state tells the callbacks of sign-ins apart.
    /// - Returns: The URL of the callback.
    /// - Throws: `NetworkError` of code `oauth2Expired` after five minutes; `CancellationError` as soon as the task is
    ///   cancelled.
    public func callback(for page: URL) async throws -> URL {
      let query = FormPairs(page.query(percentEncoded: true) ?? "")
      guard let state = query.values("state").first ?? OAuth2SignIn.current?.state else {
        throw NetworkError.invalidServer("the page has no state, by which its callback is recognized")
      }
      let waiter = Waiter<URL>()
      listener.wait(for: state, waiter)
      let timer = clock.schedule(after: LoopbackRedirect.limit) {
        waiter.settle(.failure(NetworkError(.oauth2Expired, "the browser brought no callback within five minutes")))
      }
      defer {
        timer.cancel()
        listener.forget(state, waiter)
      }
      return try await waiter.value()
    }
  }
#endif
