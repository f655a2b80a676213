import Foundation
import RequestBehaviors

/// Decides whether a response may be stored for the owner of its request.
extension CacheExchange {
  /// Returns why a response is not stored; `nil` if it may be.
  func refusal(of response: NetworkResponse, _ fetch: CacheActivity.Fetch) -> CacheRefusal? {
    if !response.isVerified { return .unverified }
    if demand.forbidsStoring { return .requestForbids }
    // A redirect, or a behavior further in, may have changed the URL: the response then belongs to another key.
    guard isOwn(response) else { return .otherURL }
    let refusal = Storability.refusal(
      statusCode: response.statusCode, headers: response.headers, method: request.method, url: request.url)
    if let refusal { return refusal }
    guard let variant = CacheVariant(of: response.headers, to: request.headers) else { return .varyStar }
    // A response that came in the background belongs to another call, so both calls are checked.
    guard request.call.keepsScopes, response.request.call.keepsScopes else { return .otherUser }
    guard place.knowsOwner(of: response) else { return .unknownOwner }
    guard CacheVariant.isSeen(of: response.headers, at: request.headers, sent: response.request.headers) else {
      return .variesUnseen
    }
    if cache.activity.isOutdated(fetch, variant) { return .changedMeanwhile }
    guard case .data(let body) = response.body else {
      // A stream that is known to be too large is not even collected.
      let told = response.headers[.contentLength].flatMap { Int($0) } ?? 0
      return told > cache.store.maximumBodySize ? .tooLarge : nil
    }
    // Of a streamed response whose status is not accepted, the client keeps only the beginning.
    guard !response.isBodyCut, Storability.isComplete(body.count, response.headers) else { return .incomplete }
    return body.count > cache.store.maximumBodySize ? .tooLarge : nil
  }
}
