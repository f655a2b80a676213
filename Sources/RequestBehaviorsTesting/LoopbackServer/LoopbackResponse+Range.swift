import Foundation
import RequestBehaviors

extension LoopbackResponse {
  /// Returns the part of this response that a request asks for, by `Range` and `If-Range` (RFC 9110 §14, §13.1.5).
  ///
  /// ```swift
  /// let file = LoopbackResponse.data(bytes).header("ETag", "\"a\"")
  /// let server = try LoopbackServer { file.part(for: $0) }
  /// ```
  ///
  /// - Parameter request: The request.
  /// - Returns: A 206 with one part, or a 416 for a part that the body does not have. This response is returned whole
  ///   if the request asks for no part, for several parts, or for a part of content with another `ETag` or
  ///   `Last-Modified` than this response has. Each response has `Accept-Ranges: bytes`. A body that is repeated or
  ///   chunked is sent whole.
  public func part(for request: LoopbackRequest) -> LoopbackResponse {
    guard case .contentLength = framing, repeats == 1, status == 200 else { return self }
    let whole = header("Accept-Ranges", "bytes")
    // RFC 9110 §14.2: `Range` is defined for GET only, and a server ignores a range that it cannot serve.
    guard request.method == .get, let value = request.headers[.range], isMeant(by: request.headers[.ifRange]) else {
      return whole
    }
    switch LoopbackRange(value, of: body.count) {
    case .none: return whole
    case .unsatisfiable:
      var response = whole
      response.status = 416
      response.reason = "Range Not Satisfiable"
      response.body = Data()
      return response.header("Content-Range", "bytes */\(body.count)")
    case .part(let range):
      var response = whole
      response.status = 206
      response.reason = "Partial Content"
      response.body = body.dropFirst(range.lowerBound).prefix(range.count)
      return response.header("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)")
    }
  }

  /// Returns whether the condition of a range matches this content, or there is no condition.
  private func isMeant(by condition: String?) -> Bool {
    guard let condition else { return true }
    if condition.hasPrefix("W/") { return false }
    return condition == headers[.eTag] || condition == headers[.lastModified]
  }
}

/// The part that a `Range` field asks for.
private enum LoopbackRange {
  case none
  case unsatisfiable
  case part(Range<Int>)

  init(_ value: String, of count: Int) {
    // RFC 9110 §14.2: a server may ignore units and ranges that it does not support.
    guard value.hasPrefix("bytes="), !value.contains(",") else {
      self = .none
      return
    }
    let ends = value.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else {
      self = .none
      return
    }
    // The forms are `first-last`, `first-` and `-length` (RFC 9110 §14.1.2).
    switch (Int(ends[0]), Int(ends[1])) {
    case (let first?, let last?) where first <= last:
      self = LoopbackRange.part(from: first, to: min(last, count) + 1, of: count)
    case (let first?, nil) where ends[1].isEmpty: self = LoopbackRange.part(from: first, to: count, of: count)
    case (nil, let length?) where ends[0].isEmpty && length > 0:
      self = LoopbackRange.part(from: max(0, count - length), to: count, of: count)
    default: self = .none
    }
  }

  private static func part(from first: Int, to end: Int, of count: Int) -> LoopbackRange {
    first < count ? .part(first..<min(end, count)) : .unsatisfiable
  }
}
