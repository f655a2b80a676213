import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests over URLSession, and handles itself what URLSession gets wrong or does differently per platform.
///
/// It is the default transport of a ``NetworkClient``. Create one yourself to change its settings, or to share
/// connections between clients:
///
/// ```swift
/// let transport = URLSessionTransport(
///   configuration: .init(maximumConnectionsPerHost: 8))
/// let client = NetworkClient(
///   configuration: configuration, transport: transport)
/// ```
///
/// Redirects are returned as responses. Cookies are neither stored nor sent unless the settings say so. The transport
/// caches nothing, and the platform adds no credentials. Timeouts may be fractions of a second and are measured on the
/// transport's clock. If a connection is lost while a body is sent, the body is not sent again: a retry behavior
/// decides about a repeat. The platform itself may repeat idempotent requests, such as `GET` (RFC 9110 §9.2.2), when a
/// connection is lost before the response begins. No platform reports that.
///
/// The server does not wait for the reader of a streamed response, because URLSession on Linux cannot make it wait. The
/// unread bytes are kept in files (``Configuration/spool``). All received bytes are delivered before an error.
///
/// On Linux the header fields of a response lose their order, and fields of the same name are joined by `", "`.
public final class URLSessionTransport: Transport {
  private let registry: TransferRegistry
  private let objection: NetworkError?
  private let responseSpool: BodySpool

  /// Creates a transport with connections of its own.
  ///
  /// - Parameters:
  ///   - configuration: The settings; by default without cookies, and with at most 128 connections to a host.
  ///   - clock: The clock that measures timeouts; by default the system's.
  public convenience init(configuration: Configuration = Configuration(), clock: RequestClock = .system) {
    self.init(configuration: configuration, clock: clock, spool: configuration.uploadSpool)
  }

  package init(
    configuration: Configuration = Configuration(), clock: RequestClock = .system, spool: BodySpool,
    sessions: SessionCount = .ofProcess
  ) {
    objection = configuration.objection
    responseSpool = configuration.spool
    registry = TransferRegistry(configuration, spool: spool, clock: clock, sessions: sessions)
  }

  // The registry and its session keep each other alive until the registry is closed, but nothing keeps the transport
  // alive.
  deinit { registry.close() }

  /// Sends a request.
  ///
  /// - Parameter request: The request, with everything in it that goes over the wire.
  /// - Returns: The response, with any status, and its body in memory or streamed. A compressed body is decoded, but
  ///   `Content-Encoding` and `Content-Length` still describe the compressed body.
  /// - Throws: ``NetworkError`` with a code for the failure, or `CancellationError` as soon as the task is cancelled.
  public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try request.validate()
    if var objection {
      objection.request = request
      throw objection.unsent
    }
    try Task.checkCancellation()
    var urlRequest = try URLRequest(request)
    #if canImport(FoundationNetworking)
      // The platform would tell every server the program's name and the version of libcurl.
      if !request.headers.contains("User-Agent") {
        urlRequest.setValue("RequestBehaviors", forHTTPHeaderField: "User-Agent")
      }
      // After a 417 libcurl keeps the connection although the server may still wait for the announced body, and sends
      // the request again over it. The server would take that request, or one of another call, for the body. A field
      // whose value is blank is not sent.
      if request.headers.contains("Expect") { urlRequest.setValue(" ", forHTTPHeaderField: "Expect") }
    #endif
    // The transport enforces the time limits itself, so URLSession's own limit must never expire.
    urlRequest.timeoutInterval = URLRequest.longestTimeout
    let transfer = Transfer(registry.addsCookies ? request.withCookies : request, urlRequest, responseSpool)
    let received = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // A cancellation may come first. The transfer is then settled, and is not started.
        if transfer.attach(continuation) { registry.start(transfer) }
        HandOver.endCurrent()
      }
    } onCancel: {
      registry.cancel(transfer)
    }
    return response(to: transfer, received)
  }

  /// Returns whether the platform adds cookies: it has some for the URL, and ``Configuration/handlesCookies`` is true.
  public func addsCredentials(to request: NetworkRequest) -> Bool { registry.hasCookies(for: request.url) }

  private func response(to transfer: Transfer, _ received: Transfer.Received) -> NetworkResponse {
    var body = ResponseBody.data(received.body ?? Data())
    if let stream = transfer.stream {
      let bytes = TransferBytes(stream: stream, transport: self)
      body = .stream(ByteStream(bytes, onCancel: { [registry] in registry.cancelBody(of: transfer) }))
    }
    return NetworkResponse(
      request: transfer.request, statusCode: received.response.statusCode, headers: HeaderFields(received.response),
      body: body, timings: received.timings)
  }

  /// Forgets the cookies of servers, if it keeps any.
  ///
  /// Later requests have an empty jar and connections of their own. Cookies in the responses to requests in flight go
  /// into the old jar. A cookie storage that ``Configuration/adjustPlatform`` has set is emptied, and may get such
  /// cookies.
  public func forgetUser() { registry.forgetCookies() }

  /// Ends all requests in flight with ``NetworkError/Code-swift.struct/clientShutDown``; further sends fail with it
  /// too.
  ///
  /// A second call has no effect.
  public func shutdown() async {
    await withCheckedContinuation { continuation in
      registry.close { continuation.resume() }
    }
  }
}

extension URLSessionTransport: HandOverEnding {}

extension URLSessionTransport: CallNoting {
  package func note(_ call: Call) { registry.note(call) }
}

extension URLSessionTransport: CustomStringConvertible, CustomReflectable {
  /// The name of the type.
  public var description: String { "URLSessionTransport" }

  /// A mirror with the description only: `dump` of a transport must not show its requests.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension NetworkRequest {
  /// The request with the `Cookie` field that the platform may add.
  ///
  /// A cache can then see in the response's request that there may have been cookies.
  ///
  /// The field is empty, because the platform's cookies are not known.
  fileprivate var withCookies: NetworkRequest {
    guard let origin, !headers.contains("Cookie") else { return self }
    var sent = self
    sent.headers.set("Cookie", "", sensitive: .only([origin]))
    return sent
  }
}
