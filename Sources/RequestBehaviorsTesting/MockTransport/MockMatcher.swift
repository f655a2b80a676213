import RequestBehaviors

/// The requests that a stub matches.
struct MockMatcher: Sendable {
  let method: RequestMethod?
  let path: MockPath?
  let query: [Query.Item]
  let headers: HeaderFields
  let condition: (@Sendable (NetworkRequest) throws -> Bool)?
}

extension MockMatcher: CustomStringConvertible {
  var description: String {
    var text = "\(method?.rawValue ?? "any method") \(path?.text ?? "any URL")"
    if !query.isEmpty {
      text += (path?.query.isEmpty == false ? "&" : "?") + query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }
    if !headers.isEmpty { text += " with \(headers.map(\.name).joined(separator: ", "))" }
    if condition != nil { text += " where …" }
    return text
  }
}
