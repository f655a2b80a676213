public import Foundation

extension Request {
  /// Creates a `GET` request for a path below the base URL.
  public static func get(_ path: RequestPath, query: Query = [:], headers: HeaderFields = [:]) -> Self {
    Request(.get, path, query: query, headers: headers)
  }

  /// Creates a `GET` request for a full URL.
  public static func get(url: URL, query: Query = [:], headers: HeaderFields = [:]) -> Self {
    Request(.get, url: url, query: query, headers: headers)
  }

  /// Creates a `HEAD` request for a path below the base URL.
  public static func head(_ path: RequestPath, query: Query = [:], headers: HeaderFields = [:]) -> Self {
    Request(.head, path, query: query, headers: headers)
  }

  /// Creates a `HEAD` request for a full URL.
  public static func head(url: URL, query: Query = [:], headers: HeaderFields = [:]) -> Self {
    Request(.head, url: url, query: query, headers: headers)
  }

  /// Creates a `POST` request for a path below the base URL.
  public static func post(
    _ path: RequestPath, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    Request(.post, path, query: query, headers: headers, body: body)
  }

  /// Creates a `POST` request for a full URL.
  public static func post(
    url: URL, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    Request(.post, url: url, query: query, headers: headers, body: body)
  }

  /// Creates a `PUT` request for a path below the base URL.
  public static func put(
    _ path: RequestPath, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    Request(.put, path, query: query, headers: headers, body: body)
  }

  /// Creates a `PUT` request for a full URL, such as one that a server has signed for an upload.
  public static func put(
    url: URL, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    Request(.put, url: url, query: query, headers: headers, body: body)
  }

  /// Creates a `PATCH` request for a path below the base URL.
  public static func patch(
    _ path: RequestPath, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    Request(.patch, path, query: query, headers: headers, body: body)
  }

  /// Creates a `PATCH` request for a full URL.
  public static func patch(
    url: URL, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    Request(.patch, url: url, query: query, headers: headers, body: body)
  }

  /// Creates a `DELETE` request for a path below the base URL.
  public static func delete(
    _ path: RequestPath, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    Request(.delete, path, query: query, headers: headers, body: body)
  }

  /// Creates a `DELETE` request for a full URL.
  public static func delete(
    url: URL, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    Request(.delete, url: url, query: query, headers: headers, body: body)
  }

  /// Creates an `OPTIONS` request for a path below the base URL.
  public static func options(_ path: RequestPath, query: Query = [:], headers: HeaderFields = [:]) -> Self {
    Request(.options, path, query: query, headers: headers)
  }
}

// MARK: - Paths that are not literals

/// A `String` is not accepted as a path, because it does not tell which of its characters must be encoded.
///
/// These overloads let the compiler say what to write instead.
extension Request {
  /// Unavailable: a path is a literal, or ``RequestPath/init(encoded:)``.
  @available(
    *, unavailable,
    message: "use a literal path, such as \"users/\\(id)\", or RequestPath(encoded:) for text that is encoded"
  )
  public static func get(_ path: String, query: Query = [:], headers: HeaderFields = [:]) -> Self {
    get(RequestPath(encoded: path), query: query, headers: headers)
  }

  /// Unavailable: a path is a literal, or ``RequestPath/init(encoded:)``.
  @available(
    *, unavailable,
    message: "use a literal path, such as \"users/\\(id)\", or RequestPath(encoded:) for text that is encoded"
  )
  public static func post(
    _ path: String, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    post(RequestPath(encoded: path), body: body, query: query, headers: headers)
  }

  /// Unavailable: a path is a literal, or ``RequestPath/init(encoded:)``.
  @available(
    *, unavailable,
    message: "use a literal path, such as \"users/\\(id)\", or RequestPath(encoded:) for text that is encoded"
  )
  public static func put(
    _ path: String, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    put(RequestPath(encoded: path), body: body, query: query, headers: headers)
  }

  /// Unavailable: a path is a literal, or ``RequestPath/init(encoded:)``.
  @available(
    *, unavailable,
    message: "use a literal path, such as \"users/\\(id)\", or RequestPath(encoded:) for text that is encoded"
  )
  public static func patch(
    _ path: String, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    patch(RequestPath(encoded: path), body: body, query: query, headers: headers)
  }

  /// Unavailable: a path is a literal, or ``RequestPath/init(encoded:)``.
  @available(
    *, unavailable,
    message: "use a literal path, such as \"users/\\(id)\", or RequestPath(encoded:) for text that is encoded"
  )
  public static func delete(
    _ path: String, body: RequestContent? = nil, query: Query = [:], headers: HeaderFields = [:]
  ) -> Self {
    delete(RequestPath(encoded: path), body: body, query: query, headers: headers)
  }
}
