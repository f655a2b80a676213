#if canImport(AuthenticationServices) && !os(tvOS) && !os(watchOS)
  public import AuthenticationServices
  import Foundation
  import RequestBehaviors

  /// Shows the page of a sign-in in the system's own sheet, which shares the browser's cookies.
  ///
  /// The app sees nothing that the user types.
  ///
  /// Not on tvOS and watchOS; use ``OAuth2DeviceFlow`` there.
  @MainActor public final class WebAuthentication: NSObject {
    private let anchor: ASPresentationAnchor
    /// Whether the page shares no cookies with the browser, so that the user signs in each time.
    private let prefersEphemeral: Bool
    private var session: ASWebAuthenticationSession?

    /// Creates a presenter.
    ///
    /// - Parameters:
    ///   - anchor: The window in front of which the sheet appears.
    ///   - prefersEphemeral: Whether the page shares no cookies with the browser; `false` by default.
    public init(anchor: ASPresentationAnchor, prefersEphemeral: Bool = false) {
      self.anchor = anchor
      self.prefersEphemeral = prefersEphemeral
    }

    /// Shows a page until the server calls back.
    ///
    /// - Parameters:
    ///   - url: The page.
    ///   - flow: The flow, whose redirect URI ends the sheet.
    /// - Returns: The URL of the callback.
    /// - Throws: `NetworkError` of code `oauth2Dismissed` if the user closed the sheet, and `oauth2InvalidServer` if it
    ///   cannot be shown, or needs iOS 17.4 or macOS 14.4 for an https redirect.
    public func open(_ url: URL, for flow: OAuth2Flow) async throws -> URL {
      // The system may call the closure of a session that it did not start.
      let waiter = Waiter<URL>()
      let session = try makeSession(url, flow.redirectURI) { waiter.settle($0) }
      session.presentationContextProvider = self
      session.prefersEphemeralWebBrowserSession = prefersEphemeral
      self.session = session
      defer {
        session.cancel()
        self.session = nil
      }
      guard session.start() else { throw NetworkError.invalidServer("the system did not show the sign-in sheet") }
      return try await waiter.value()
    }

    private func makeSession(
      _ url: URL, _ redirect: URL, _ end: @escaping @Sendable (Result<URL, any Error>) -> Void
    ) throws -> ASWebAuthenticationSession {
      let completion: @Sendable (URL?, (any Error)?) -> Void = { url, error in
        if let url { return end(.success(url)) }
        let isDismissed = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
        end(
          .failure(
            NetworkError(
              isDismissed ? .oauth2Dismissed : .oauth2InvalidServer,
              isDismissed ? "the user closed the sign-in page" : "the sign-in sheet ended without a callback",
              underlyingError: error)))
      }
      guard redirect.scheme?.lowercased() == "https" else {
        return ASWebAuthenticationSession(
          url: url, callbackURLScheme: redirect.scheme, completionHandler: completion)
      }
      guard #available(iOS 17.4, macOS 14.4, visionOS 1.1, *) else {
        throw NetworkError.invalidServer("a redirect URI of https needs iOS 17.4 or macOS 14.4; use a private scheme")
      }
      return ASWebAuthenticationSession(
        url: url, callback: .https(host: redirect.host() ?? "", path: redirect.path()), completionHandler: completion)
    }
  }

  extension WebAuthentication: ASWebAuthenticationPresentationContextProviding {
    /// Returns the window of the presenter.
    public func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }
  }
#endif
