/// A parser for the fields in which servers report their limits; it has no state.
enum RateLimitFields {
  /// Returns the limits in the fields of a response.
  ///
  /// `RateLimit` and `RateLimit-Policy` of the same name form one limit (draft-ietf-httpapi-ratelimit-headers-11 §4).
  /// The older three fields are read only if both are absent.
  ///
  /// - Parameters:
  ///   - headers: The fields.
  ///   - delay: Returns the duration in a `-Reset` field, which may be seconds or a date.
  /// - Returns: The limits, in the order of the fields.
  static func limits(in headers: HeaderFields, delay: (String) -> Duration?) -> [ServerHints.Limit] {
    var limits: [ServerHints.Limit] = []
    for item in StructuredItem.list(headers["RateLimit"] ?? "") where item.parameters["r"] != nil {
      limits.append(
        ServerHints.Limit(
          name: item.value, remaining: item.number("r"), resetsAfter: item.number("t").map(seconds)))
    }
    // A policy completes the limit of its name, or adds one whose remaining quota is unknown. A server may send
    // thousands of them.
    var indices = Dictionary(limits.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    for item in StructuredItem.list(headers["RateLimit-Policy"] ?? "") where item.parameters["q"] != nil {
      let index = indices[item.value] ?? limits.endIndex
      if index == limits.endIndex {
        limits.append(ServerHints.Limit(name: item.value))
        indices[item.value] = index
      }
      limits[index].quota = item.number("q")
      limits[index].window = item.number("w").map(seconds)
    }
    return limits.isEmpty ? older(headers, delay) : limits
  }

  private static func seconds(_ number: Int) -> Duration { Duration(clamping: Double(number)) }

  private static func older(_ headers: HeaderFields, _ delay: (String) -> Duration?) -> [ServerHints.Limit] {
    for prefix in ["RateLimit-", "X-RateLimit-", "X-Rate-Limit-"] {
      let reset = headers[prefix + "Reset"]
      let remaining = headers[prefix + "Remaining"]
      guard reset != nil || remaining != nil else { continue }
      return [
        ServerHints.Limit(
          quota: headers[prefix + "Limit"].flatMap { Int($0) }, remaining: remaining.flatMap { Int($0) },
          resetsAfter: reset.flatMap(delay))
      ]
    }
    return []
  }
}
