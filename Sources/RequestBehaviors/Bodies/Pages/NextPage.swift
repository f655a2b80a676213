public import Foundation

/// The rule by which ``NetworkClient/pages(_:following:allowing:)`` finds the page after a page.
public struct NextPage<Page>: Sendable {
  /// Returns the request for the next page; `nil` after the last one.
  let request: @Sendable (Response<Page>, Request<Page>) throws -> Request<Page>?

  /// Whether two requests for one URL are for the same page.
  let isTheURL: Bool

  /// The rule for servers that give a link to the next page in the `Link` field (RFC 8288).
  ///
  /// The next request is the same request for the URL of the link, with that URL's query. A link without an http or
  /// https URL, or with a user name in it, fails with ``NetworkError/Code-swift.struct/linkNotFollowed``.
  ///
  /// - Parameter relation: The relation of the link; by default `next`.
  /// - Returns: The rule.
  public static func link(_ relation: String = "next") -> NextPage {
    NextPage(isTheURL: true) { page, request in
      let links = page.http.links
      if let problem = links.problem(of: relation) { throw NetworkError.linkNotFollowed(problem, of: page.http) }
      return links[relation].map { request.moved(to: $0) }
    }
  }

  /// The rule for servers whose pages have a link to the next one in the body.
  ///
  /// A link without an http or https URL, or with a user name in it, fails with
  /// ``NetworkError/Code-swift.struct/linkNotFollowed``.
  ///
  /// - Parameter url: Returns the link of a page, which may be relative to the URL of the page; `nil` after the last
  ///   one.
  /// - Returns: The rule.
  public static func url(_ url: @escaping @Sendable (Page) throws -> URL?) -> NextPage {
    NextPage(isTheURL: true) { page, request in
      guard let link = try url(page.value) else { return nil }
      // A link with a base URL of its own is relative to that one.
      let reference = link.baseURL == nil ? link.relativeString : link.absoluteString
      guard !reference.isEmpty else { return nil }
      do {
        return request.moved(
          to: try URLResolution.resolve(reference: reference, relativeTo: page.http.request.url, keepsFragment: false))
      } catch {
        throw NetworkError.linkNotFollowed(error, of: page.http)
      }
    }
  }

  /// The rule for servers whose pages have a cursor in the body, which the next request sends back in the query.
  ///
  /// ```swift
  /// let pages = client.pages(
  ///   .get("events").returning(Events.self),
  ///   following: .cursor("after") { $0.nextCursor })
  /// ```
  ///
  /// - Parameters:
  ///   - parameter: The name of the cursor in the query; it replaces an item of that name.
  ///   - cursor: Returns the cursor of a page; `nil` or an empty one after the last page.
  /// - Returns: The rule.
  public static func cursor(
    _ parameter: String, _ cursor: @escaping @Sendable (Page) throws -> String?
  ) -> NextPage {
    NextPage(isTheURL: true) { page, request in
      guard let cursor = try cursor(page.value), !cursor.isEmpty else { return nil }
      var next = request
      next.target = request.target.removing(queryItem: parameter)
      next.query.items.removeAll { $0.name == parameter }
      next.query.append(parameter, cursor)
      return next
    }
  }

  /// Your own rule, such as one for a cursor that belongs into the body of the request.
  ///
  /// - Parameter next: Returns the request for the next page, made of a page and the request for it; `nil` after the
  ///   last one.
  /// - Returns: The rule.
  public static func request(
    _ next: @escaping @Sendable (Response<Page>, Request<Page>) throws -> Request<Page>?
  ) -> NextPage {
    NextPage(isTheURL: false, next)
  }

  private init(
    isTheURL: Bool, _ request: @escaping @Sendable (Response<Page>, Request<Page>) throws -> Request<Page>?
  ) {
    self.isTheURL = isTheURL
    self.request = request
  }
}

extension NetworkError {
  fileprivate static func linkNotFollowed(_ problem: any Error, of page: NetworkResponse) -> NetworkError {
    let reason = (problem as? NetworkError)?.message ?? "its URL is invalid"
    return NetworkError(
      .linkNotFollowed, "the link to the next page cannot be followed: \(reason)", response: page,
      underlyingError: problem)
  }
}

extension Request {
  /// Returns the request for another URL, with the query of that URL.
  fileprivate func moved(to url: URL) -> Self {
    var copy = self
    // A page is of the endpoint of its list, so that metrics do not count each list for itself.
    let template: String? =
      switch target {
      case .path(let path): path.isAbsolute ? nil : path.template
      case .url(_, let template): template
      }
    copy.target = .url(url, template: template)
    copy.query = Query()
    return copy
  }
}
