private enum IdleTimeout: RequestOption {
  static let defaultValue: Duration? = .seconds(60)
  static let isPortable = true
}

private enum Timeout: RequestOption {
  static let defaultValue: Duration? = nil
  static let isPortable = true
}

private enum AcceptableStatuses: RequestOption {
  static let defaultValue = StatusCodes.success
  static let isPortable = true
}

private enum BodyLimit: RequestOption {
  static let defaultValue = 64 * 1_024 * 1_024
  static let isPortable = true
}

private enum Delivery: RequestOption {
  static let defaultValue = ResponseDelivery.buffered
  static let isPortable = true
}

private enum TimesEndAtHead: RequestOption {
  static let defaultValue = false
  static let isPortable = true
  static let affectsResponse = false
}

private enum Environment: RequestOption {
  static let defaultValue: ServerEnvironment? = nil
  // An environment changes the URL and the fields, which are compared anyway.
  static let affectsResponse = false
}

private enum AcceptableContentTypes: RequestOption {
  static let defaultValue: [String]? = nil
  static let isPortable = true
  static let affectsResponse = false
}

private enum NilWhenNotFound: RequestOption {
  static let defaultValue = false
  static let isPortable = true
  static let affectsResponse = false
}

private enum DecodingPath: RequestOption {
  static let defaultValue: String? = nil
  static let isPortable = true
  static let affectsResponse = false
}

extension RequestOptions {
  /// The longest time without a byte in either direction before a send fails; 60 seconds by default, `nil` for no
  /// limit.
  ///
  /// The time also covers waiting for a connection and connecting. It may be a fraction of a second. Reading the stream
  /// of a request's body counts as progress; so does each part of a body that is handed to the system or comes from it.
  /// The head of the response counts when it is complete. A send that exceeds the time throws
  /// ``NetworkError/Code-swift.struct/timedOut``.
  public var idleTimeout: Duration? {
    get { self[IdleTimeout.self] }
    set { self[IdleTimeout.self] = newValue }
  }

  /// The ``idleTimeout`` if it was set explicitly; the default never causes a warning.
  public var explicitIdleTimeout: Duration? { explicit(IdleTimeout.self) ?? nil }

  /// The longest time that one send may take in all; `nil`, the default, for no limit, because large transfers take
  /// long.
  public var timeout: Duration? {
    get { self[Timeout.self] }
    set { self[Timeout.self] = newValue }
  }

  /// The statuses that count as success; 200 to 299 by default.
  ///
  /// Any other status fails the call with ``NetworkError/Code-swift.struct/unacceptableStatus``. The value is read
  /// once, when the call begins.
  public var acceptableStatuses: StatusCodes {
    get { self[AcceptableStatuses.self] }
    set { self[AcceptableStatuses.self] = newValue }
  }

  /// The most bytes of a response body that are kept in memory; 64 MiB by default.
  ///
  /// A longer body ends the transfer with ``NetworkError/Code-swift.struct/bodyTooLarge``.
  public var bodyLimit: Int {
    get { self[BodyLimit.self] }
    set { self[BodyLimit.self] = newValue }
  }

  /// How the transport delivers the body of the response; in memory by default.
  ///
  /// ``NetworkClient/stream(_:)`` sets it. Behaviors that need the whole body leave a streamed response unchanged.
  public package(set) var delivery: ResponseDelivery {
    get { self[Delivery.self] }
    set { self[Delivery.self] = newValue }
  }

  /// Whether ``timeout`` and a deadline cover only the head of a streamed response.
  ///
  /// By default it is `false`: they also cover the body.
  ///
  /// It is `true` for streams that are not meant to end, such as events.
  public package(set) var timesEndAtHead: Bool {
    get { self[TimesEndAtHead.self] }
    set { self[TimesEndAtHead.self] = newValue }
  }

  /// The server for the request instead of the configuration's; `nil`, the default, for the configuration's.
  ///
  /// Credentials stay bound to the origins of their session: a request to an environment on another origin carries
  /// none.
  public var environment: ServerEnvironment? {
    get { self[Environment.self] }
    set { self[Environment.self] = newValue }
  }

  /// The media types that are decoded, such as `["application/json", "text/plain"]`.
  ///
  /// `nil`, the default, leaves the choice to the configuration's decoder; an empty array accepts every type.
  public var acceptableContentTypes: [String]? {
    get { self[AcceptableContentTypes.self] }
    set { self[AcceptableContentTypes.self] = newValue }
  }

  package var nilWhenNotFound: Bool {
    get { self[NilWhenNotFound.self] }
    set { self[NilWhenNotFound.self] = newValue }
  }

  package var decodingPath: String? {
    get { self[DecodingPath.self] }
    set { self[DecodingPath.self] = newValue }
  }
}
