import Foundation

/// The pages of a list; each is requested after the one before it has been used.
///
/// ```swift
/// let pages = client.pages(.get("issues").returning([Issue].self))
/// for try await page in pages {
///   show(page.value)
/// }
/// ```
///
/// Each page is a call of its own, with its retries and tokens. No page is requested ahead, so that leaving the loop is
/// enough to stop; `prefix(_:)` limits the number. Iterating again begins with the first page.
public struct Pages<Page: Decodable & Sendable>: AsyncSequence, Sendable {
  /// A page, decoded, with the response that it came from.
  public typealias Element = Response<Page>

  let client: NetworkClient
  let first: Request<Page>
  let rule: NextPage<Page>
  let origins: Set<Origin>
  private var errorMapping: ErrorMapping? { client.errorMapping(of: first) }

  /// Creates an iterator, which begins with the first page.
  public func makeAsyncIterator() -> Iterator { Iterator(pages: self, next: .first) }

  /// Requests one page after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate enum Next {
      case first
      case after(Response<Page>, Request<Page>)
      case end
    }

    fileprivate let pages: Pages
    fileprivate var next: Next
    private let user = FirstUser()
    private var visited: Set<String> = []
    private var visitedHeaders: Set<HeaderFields> = []

    fileprivate init(pages: Pages, next: Next) {
      self.pages = pages
      self.next = next
    }

    /// Returns the next page, or `nil` after the last one.
    ///
    /// - Throws: The errors of `response(for:)` and of the rule. ``NetworkError`` of code
    ///   ``NetworkError/Code-swift.struct/linkNotFollowed`` for a link that cannot be followed or leads to another
    ///   origin, and of ``NetworkError/Code-swift.struct/signedOut`` if the user has left since the page before, or if
    ///   another one has signed in. There are no more pages after an error.
    public mutating func next() async throws -> Response<Page>? {
      let found = next
      next = .end
      do {
        guard let request = try request(found) else { return nil }
        var sent = request
        sent.behaviors.append(SameUserBehavior(user: user))
        // The rule reads the page as the client got it, so that an error of the rule is replaced once.
        let page = try await pages.client.originalResponse(for: sent)
        visited.insert(page.http.request.url.textWithoutFragment)
        next = .after(page, request)
        return page.leaving(with: pages.errorMapping)
      } catch {
        throw pages.errorMapping(error)
      }
    }

    /// Returns the request for the next page; `nil` if there is no next page, or if it has been requested before.
    private mutating func request(_ next: Next) throws -> Request<Page>? {
      switch next {
      case .end: return nil
      case .first:
        // If the URL is invalid, the call itself fails with the reason.
        if let url = try? pages.client.url(of: pages.first) { visited.insert(url.textWithoutFragment) }
        visitedHeaders.insert(pages.first.headers)
        return pages.first
      case .after(let page, let last):
        // The rest of one user's list must not be requested as another user.
        try page.http.request.call.owner.verify()
        guard var request = try pages.rule.request(page, last) else { return nil }
        let url = try pages.client.url(of: request)
        try pages.check(url, &request, after: page)
        // Servers do not see the fragment (RFC 9110 §4.2.5).
        let isNew = visited.insert(url.textWithoutFragment).inserted
        if pages.rule.isTheURL { return isNew ? request : nil }
        // With your own rule, requests for one URL may differ in their fields or bodies.
        let hasNewFields = visitedHeaders.insert(request.headers).inserted
        return isNew || hasNewFields || request.body != nil ? request : nil
      }
    }
  }
}

extension NetworkClient {
  /// Returns the pages of a list, beginning with the first.
  ///
  /// A page that was requested before ends the list, so that a server whose links form a circle does not keep a client
  /// busy for ever. A page on another origin than the first one's is not requested, because the request may hold
  /// secrets. Credentials of behaviors stay with their origins in any case.
  ///
  /// - Parameters:
  ///   - request: The request for the first page.
  ///   - rule: The rule for the next page; by default the link `next` (RFC 8288).
  ///   - origins: More origins that pages may be on; none by default. Secret fields of the request are not sent there,
  ///     unless they are marked for these origins.
  /// - Returns: The pages; the first request is sent when the first page is asked for.
  public func pages<Page: Decodable & Sendable>(
    _ request: Request<Page>, following rule: NextPage<Page> = .link(), allowing origins: Set<Origin> = []
  ) -> Pages<Page> {
    Pages(client: self, first: request, rule: rule, origins: origins)
  }

  /// Returns the URL that a request goes to, before behaviors change it.
  func url<Value>(of request: Request<Value>) throws -> URL {
    switch request.target {
    case .path(let path):
      let options = configuration.options.overridden(by: request.options)
      return try URLResolution.resolve(path, query: request.query, in: options.environment)
    case .url(let url, _): return try URLResolution.check(url, adding: request.query)
    }
  }
}
