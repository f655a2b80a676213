/// The status codes that matter to the cache.
enum CacheableStatus {
  /// Whether a response of this status may be stored without explicit freshness (RFC 9110 §15.1).
  static func isHeuristicallyCacheable(_ statusCode: Int) -> Bool {
    [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(statusCode)
  }

  /// Whether the cache knows what the status means for caching, as `must-understand` asks (RFC 9111 §5.2.2.3).
  ///
  /// These are the final statuses of RFC 9110 §15, except 206 and 304, which are not stored as they are.
  static func isUnderstood(_ statusCode: Int) -> Bool {
    switch statusCode {
    case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
    default: false
    }
  }
}
