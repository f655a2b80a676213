import Foundation

/// Collects requests for a moment and sends them as one, such as `users?ids=1,2,3` for three users.
///
/// ```swift
/// let users = BatchBehavior(
///   "users",
///   group: { $0.endpoint == "users/{}" ? "users" : nil },
///   merge: { requests in
///     let ids = requests.map(\.url.lastPathComponent)
///     return try requests[0].moved(
///       to: "../users?ids=" + ids.joined(separator: ","))
///   },
///   split: { response, requests in
///     let users = try response.decode([String: User].self)
///     return try requests.map { request in
///       let user = users[request.url.lastPathComponent]
///       var own = response
///       own.body = .data(try JSONEncoder().encode(user))
///       return .success(own)
///     }
///   })
/// ```
///
/// A batch holds requests of one group that differ only in path, query and body. Their fields, options, owners and
/// credentials are the same (``SharingKey``), also those that are in query or body, such as a token. The batch is sent
/// when the window has passed since its first request, or when it is full.
///
/// The merged request is a call of its own (``Next/detached(isForCallers:)``). Its deadline is the latest of those who
/// wait for it. Each collected request keeps its own deadline and cancellation, and inner behaviors do not run for it.
/// A request that is cancelled before the batch is sent is left out; the error of one that leaves later has the sends
/// of the batch. A request that is alone in its batch is sent unchanged. Each request is sent by itself if an inner
/// behavior adds a secret without an owner (``Next/knowsOwner(of:)``). If the batch was sent before that, only safe
/// methods are sent again. All requests of a batch get an unacceptable response, and an error that `merge` or `split`
/// throws.
public struct BatchBehavior: UniqueBehavior {
  /// Returns the group of a request, `nil` for a request that is sent by itself.
  public typealias Group = @Sendable (NetworkRequest) -> String?
  /// Returns one request that replaces several.
  public typealias Merge = @Sendable ([NetworkRequest]) throws -> NetworkRequest
  /// Returns a response for each of the requests, in their order.
  public typealias Split = @Sendable (NetworkResponse, [NetworkRequest]) throws -> [Result<NetworkResponse, any Error>]

  /// Before the first attempt.
  public let order = BehaviorOrder.gate
  /// A name that tells several batch behaviors of a list apart.
  public let name: String

  let collector: BatchCollector
  private let group: Group

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - name: A name that tells several batch behaviors of a list apart.
  ///   - window: How long the first request waits for others; 10 milliseconds by default.
  ///   - size: The maximum number of requests in a batch; 50 by default.
  ///   - group: Returns the group of a request, `nil` for a request that is sent by itself.
  ///   - merge: Returns one request that replaces several.
  ///   - split: Returns a response for each of the requests, in their order.
  public init(
    _ name: String = "", window: Duration = .milliseconds(10), size: Int = 50, group: @escaping Group,
    merge: @escaping Merge, split: @escaping Split
  ) {
    self.name = name
    self.group = group
    collector = BatchCollector(window: window, size: max(size, 1), merge: merge, split: split)
  }

  /// Adds the request to a batch, and returns its part of the response.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard !request.options.bypassesBatching, request.options.delivery == .buffered, let group = group(request),
      let key = key(of: request, next)
    else {
      return try await next(request)
    }
    // A batch is sent at once when a request fills it, so a cancelled request must not be added.
    try Task.checkCancellation()
    let waiter = Waiter<Result<NetworkResponse, any Error>>()
    let (batch, number, wait) = collector.add(request, waiter, to: BatchCollector.Key(group: group, shared: key)) {
      next.detached(isForCallers: true)
    }
    let message = "waits for others of the group"
    let waiting = request.call.begin(message, from: "BatchBehavior", kind: .coalescing)
    defer { request.call.end(waiting) }
    do {
      defer { wait?.end() }
      let result = try await withTaskCancellationHandler {
        try await waiter.settlement()
      } onCancel: {
        collector.leave(batch, number)
      }
      request.call.record("merged into call \(batch.call.id)", from: "BatchBehavior", kind: .coalescing)
      return try result.bound(to: request)
    } catch is BatchCollector.IsSentAlone {
      request.call.end(waiting)
      request.call.record(
        "sent by itself: a credential has no scope", from: "BatchBehavior", kind: .coalescing)
      return try await next(request)
    } catch {
      request.call.adoptHistory(of: batch.call)
      next.adoptFailure(of: batch.place, for: request)
      throw error
    }
  }

  /// Makes later requests begin new batches.
  ///
  /// The current batches still end for their waiters.
  public func reset() async { collector.reset() }

  /// Returns the key that requests of one batch share besides the group: everything but path, query and body, and of
  /// these the secrets.
  private func key(of request: NetworkRequest, _ next: Next) -> SharingKey? {
    var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
    parts?.percentEncodedPath = "/"
    parts?.percentEncodedQuery = nil
    guard let origin = parts?.url, request.body == nil || request.body?.data != nil else { return nil }
    var common = request
    common.url = origin
    common.body = nil
    var secrets = Redactor.standard.secrets(inQueryOf: request.url)
    if let body = request.body, let data = body.data {
      secrets += Redactor.standard.secrets(
        inBody: data, contentType: request.headers[.contentType] ?? body.contentType)
    }
    // The key has a digest of secret fields only. The secrets of equal JSON are found in any order.
    if !secrets.isEmpty {
      common.headers.set("X-Batch-Secrets", secrets.sorted().joined(separator: "\n"), sensitive: .any)
    }
    return next.sharingKey(for: common)
  }
}

private enum BypassesBatching: RequestOption {
  static let defaultValue = false
}

extension RequestOptions {
  /// Whether the request is sent by itself, not merged with others; false by default.
  public var bypassesBatching: Bool {
    get { self[BypassesBatching.self] }
    set { self[BypassesBatching.self] = newValue }
  }
}
