import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests over URLSession, and decides for itself all that URLSession gets wrong or differently per platform.
///
/// It is what a ``NetworkClient`` uses when it is given no other. One is made by hand to set something, or to share
/// connections between clients:
///
/// ```swift
/// let transport = URLSessionTransport(
///   configuration: .init(maximumConnectionsPerHost: 8))
/// let client = NetworkClient(
///   configuration: configuration, transport: transport)
/// ```
///
/// Redirects come back as responses, cookies are neither stored nor sent unless asked for, nothing is cached, and no
/// credential is found by the platform. Timeouts may be fractions of a second and are measured on the transport's
/// clock. A body whose connection is lost while it is sent is not sent again; that is for a retry to decide. Requests
/// whose repetition does no harm, such as `GET` (RFC 9110 §9.2.2), may be sent again by the platform when a connection
/// is lost before the response begins; no platform tells of it.
///
/// The server does not wait for the reader of a streamed response, because URLSession on Linux cannot make it: what the
/// reader lags behind is kept in files (``Configuration/spool``). What was received is delivered before an error.
///
/// On Linux header fields of a response arrive without their order, and same names joined by `", "`.
public final class URLSessionTransport: Transport {
  private let registry: TransferRegistry
  private let objection: NetworkError?
  private let responseSpool: BodySpool

  /// Creates a transport with connections of its own.
  ///
  /// - Parameters:
  ///   - configuration: The settings; by default without cookies, and with 128 connections to a host at most.
  ///   - clock: What timeouts are measured on; by default the system's.
  public convenience init(configuration: Configuration = Configuration(), clock: RequestClock = .system) {
    self.init(configuration: configuration, clock: clock, spool: configuration.uploadSpool)
  }

  package init(configuration: Configuration = Configuration(), clock: RequestClock = .system, spool: BodySpool) {
    objection = configuration.objection
    responseSpool = configuration.spool
    registry = TransferRegistry(configuration, spool: spool, clock: clock)
  }

  // The registry and its session keep each other until it is closed, but nothing keeps the transport.
  deinit { registry.close() }

  /// Sends a request.
  ///
  /// - Parameter request: The request, with everything in it that goes over the wire.
  /// - Returns: The response, with any status, and its body in memory or streamed. A body that came compressed is
  ///   decoded, while `Content-Encoding` and `Content-Length` still tell of the compressed one.
  /// - Throws: ``NetworkError`` with a code that tells what went wrong, or `CancellationError` as soon as the task is
  ///   cancelled.
  public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try request.validate()
    if var objection {
      objection.request = request
      throw objection
    }
    try Task.checkCancellation()
    var urlRequest = try URLRequest(request)
    urlRequest.timeoutInterval = URLRequest.longestTimeout
    let transfer = Transfer(registry.addsCookies ? request.withCookies : request, urlRequest, responseSpool)
    let received = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if transfer.attach(continuation) { registry.start(transfer) }
      }
    } onCancel: {
      registry.cancel(transfer)
    }
    return response(to: transfer, received)
  }

  /// Whether the platform adds cookies: it keeps some for the URL, and ``Configuration/handlesCookies`` is on.
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
  /// What is sent from now on has an empty jar and connections of its own; cookies that are still to come with what is in
  /// flight go into the old jar. A cookie storage that ``Configuration/adjustPlatform`` has set is emptied, and may get
  /// such cookies.
  public func forgetUser() { registry.forgetCookies() }

  /// Ends what is in flight with ``NetworkError/Code-swift.struct/clientShutDown``; further sends fail with it too.
  ///
  /// Doing it twice does nothing more.
  public func shutdown() async {
    await withCheckedContinuation { continuation in
      registry.close { continuation.resume() }
    }
  }
}

extension URLSessionTransport: CustomStringConvertible, CustomReflectable {
  /// The name of the type.
  public var description: String { "URLSessionTransport" }

  /// Only what the description shows: dumping a transport must not show what it sends.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension NetworkRequest {
  /// The request with a `Cookie` field, as it is sent if the platform adds one, so that a cache can see in the response's
  /// request that there may have been cookies.
  ///
  /// The field is empty, because what the platform adds is not known.
  fileprivate var withCookies: NetworkRequest {
    guard let origin, !headers.contains("Cookie") else { return self }
    var sent = self
    sent.headers.set("Cookie", "", sensitive: .only([origin]))
    return sent
  }
}
