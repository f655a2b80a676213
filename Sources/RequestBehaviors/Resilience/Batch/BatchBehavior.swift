import Foundation

/// Collects requests for a moment and sends them as one, such as `users?ids=1,2,3` for three users.
///
/// ```swift
/// let users = BatchBehavior(
///   "users",
///   group: { $0.endpoint == "users/{}" ? "users" : nil },
///   merge: { requests in
///     let ids = requests.map(\.url.lastPathComponent)
///     var merged = requests[0]
///     merged.url.deleteLastPathComponent()
///     merged.url.append(queryItems: [
///       URLQueryItem(name: "ids", value: ids.joined(separator: ","))
///     ])
///     return merged
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
/// Requests go together that are of one group, and the same but for path, query and body: fields, options, scopes and
/// credentials (``SharingKey``). They go when the window has passed since the first came, or when there are as many as
/// the size. The one request is a call of its own without a deadline (``Next/detached(isForCallers:)``); each that it
/// stands for has its own deadline and cancellation, and what is further in does not run for it. A request that is
/// cancelled before the batch goes is not sent. A request that is alone is sent as it is, and so is each where a behavior
/// further in adds a secret without a scope (``Next/knowsOwner(of:)``). All get a response that is not acceptable, and
/// what `merge` or `split` throw.
public struct BatchBehavior: UniqueBehavior {
  /// Returns the group of a request, `nil` for one that is sent by itself.
  public typealias Group = @Sendable (NetworkRequest) -> String?
  /// Returns one request that stands for several.
  public typealias Merge = @Sendable ([NetworkRequest]) throws -> NetworkRequest
  /// Returns a response for each of the requests, in their order.
  public typealias Split = @Sendable (NetworkResponse, [NetworkRequest]) throws -> [Result<NetworkResponse, any Error>]

  /// Before anything is tried.
  public let order = BehaviorOrder.gate
  /// What tells several of a list apart.
  public let name: String

  let collector: BatchCollector
  private let group: Group

  /// Creates the behavior.
  ///
  /// - Parameters:
  ///   - name: What tells several of a list apart.
  ///   - window: How long the first request waits for others; 10 milliseconds by default.
  ///   - size: How many requests go together at most; 50 by default.
  ///   - group: Returns the group of a request, `nil` for one that is sent by itself.
  ///   - merge: Returns one request that stands for several.
  ///   - split: Returns a response for each of the requests, in their order.
  public init(
    _ name: String = "", window: Duration = .milliseconds(10), size: Int = 50, group: @escaping Group,
    merge: @escaping Merge, split: @escaping Split
  ) {
    self.name = name
    self.group = group
    collector = BatchCollector(window: window, size: max(size, 1), merge: merge, split: split)
  }

  /// Waits for others of the group, and for the part of the response that is the request's.
  public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    guard !request.options.bypassesBatching, request.options.delivery == .buffered, let group = group(request),
      let key = key(of: request, next)
    else {
      return try await next(request)
    }
    // A batch that this request fills goes at once, so a cancelled one must not be added.
    try Task.checkCancellation()
    let waiter = Waiter<Result<NetworkResponse, any Error>>()
    let batch = collector.add(request, waiter, to: BatchCollector.Key(group: group, shared: key)) {
      next.detached(isForCallers: true)
    }
    request.call.record("waits for others of the group", from: "BatchBehavior", kind: .coalescing)
    do {
      let result = try await waiter.value()
      request.call.record("merged into call \(batch.call.id)", from: "BatchBehavior", kind: .coalescing)
      return try result.bound(to: request)
    } catch is BatchCollector.IsSentAlone {
      request.call.record(
        "sent by itself: a credential has no scope", from: "BatchBehavior", kind: .coalescing)
      return try await next(request)
    } catch {
      collector.leave(batch, waiter)
      throw error
    }
  }

  /// Lets later requests begin new batches; those under way end for the ones who wait.
  public func reset() async { collector.reset() }

  /// What must be the same besides the group: everything but path, query and body.
  private func key(of request: NetworkRequest, _ next: Next) -> SharingKey? {
    var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
    parts?.percentEncodedPath = "/"
    parts?.percentEncodedQuery = nil
    guard let origin = parts?.url, request.body == nil || request.body?.data != nil else { return nil }
    var common = request
    common.url = origin
    common.body = nil
    return next.sharingKey(for: common)
  }
}

private enum BypassesBatching: RequestOption {
  static let defaultValue = false
  static let affectsResponse = false
}

extension RequestOptions {
  /// Whether the request is sent by itself, not merged with others; false by default.
  public var bypassesBatching: Bool {
    get { self[BypassesBatching.self] }
    set { self[BypassesBatching.self] = newValue }
  }
}
