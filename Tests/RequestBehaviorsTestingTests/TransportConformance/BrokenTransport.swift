import Foundation
import RequestBehaviors

/// URLSessionTransport with one flaw.
final class BrokenTransport: Transport {
  enum Flaw: CaseIterable {
    case followsRedirects, ignoresLimits, ignoresCancellation, repeatsFailures, caches, keepsCookies, ignoresTimeouts
    case dropsBodies, lumpsErrors, acceptsAnything, ignoresShutdown, changesURLs, losesResponseHeaders, sendsInSeries
  }

  private let inner: URLSessionTransport
  private let flaw: Flaw
  private let lock = NSLock()
  // Both protected by `lock`.
  nonisolated(unsafe) private var last: NetworkResponse?
  nonisolated(unsafe) private var tail: Task<Void, Never>?

  init(_ flaw: Flaw, clock: RequestClock) {
    self.flaw = flaw
    inner = URLSessionTransport(clock: clock)
  }

  func shutdown() async { if flaw != .ignoresShutdown { await inner.shutdown() } }

  func send(_ original: NetworkRequest) async throws -> NetworkResponse {
    var request = original
    switch flaw {
    case .ignoresLimits: request.options.bodyLimit = .max
    case .ignoresTimeouts: (request.idleTimeout, request.timeout) = (nil, nil)
    case .dropsBodies: request.body = nil
    case .changesURLs: request.url = URL(string: request.url.absoluteString.lowercased()) ?? request.url
    case .keepsCookies: request.headers["Cookie"] = lock.withLock { last }?.headers["Set-Cookie"]
    case .caches: if let cached = lock.withLock({ last }) { return cached }
    case .ignoresCancellation: return try await Task { [request] in try await inner.send(request) }.value
    case .sendsInSeries: return try await sendInSeries(request)
    default: break
    }
    do {
      var response = try await inner.send(request)
      if flaw == .losesResponseHeaders { response.headers = [:] }
      lock.withLock { last = response }
      guard flaw == .followsRedirects, (300..<400).contains(response.statusCode) else { return response }
      return try await inner.send(NetworkRequest(url: request.url.appending(path: "elsewhere"), call: request.call))
    } catch let error as NetworkError {
      switch flaw {
      case .repeatsFailures: return try await inner.send(request)
      case .lumpsErrors: throw NetworkError(.transportFailed, error.message)
      case .acceptsAnything: return NetworkResponse(request: request, statusCode: 200)
      default: throw error
      }
    }
  }

  private func sendInSeries(_ request: NetworkRequest) async throws -> NetworkResponse {
    let task = lock.withLock {
      let task = Task { [inner, tail] in
        await tail?.value
        return try await inner.send(request)
      }
      tail = Task { _ = try? await task.value }
      return task
    }
    return try await task.value
  }
}
