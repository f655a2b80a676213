import RequestBehaviors

/// Prints what goes over the wire: the innermost behavior sees exactly that.
struct WireLog: RequestBehavior {
  let order = BehaviorOrder.last

  func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
    let redactor = Redactor.standard
    print("  → \(request)")
    for field in redactor.redact(request.headers) { print("    \(field.name): \(field.value)") }
    let response = try await next(request)
    print("  ← \(response.statusCode)")
    for field in redactor.redact(response.headers) { print("    \(field.name): \(field.value)") }
    if case .data(let data) = response.body, !data.isEmpty {
      print("    " + redactor.redact(body: data, contentType: response.headers[.contentType], limit: 200))
    }
    return response
  }
}
