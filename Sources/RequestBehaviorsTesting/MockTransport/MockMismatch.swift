import Foundation
public import RequestBehaviors

/// The reason why a stub does not respond to a request.
struct MockMismatch: Error { let reason: String }

extension MockMatcher {
  /// Returns why the stub does not match the request; `nil` if it does.
  func mismatch(with request: NetworkRequest) -> MockMismatch? {
    reason(request).map { MockMismatch(reason: $0) }
  }

  private func reason(_ request: NetworkRequest) -> String? {
    if let method, method != request.method { return "the method is \(request.method)" }
    if let path, let reason = path.mismatch(with: request) { return reason }
    if let reason = missingItem(in: request) { return reason }
    if let reason = missingField(in: request) { return reason }
    guard let condition else { return nil }
    do {
      return try condition(request) ? nil : "its condition says no"
    } catch {
      let text = (error as? NetworkError)?.message ?? Redactor.standard.redact(text: "\(error)")
      return "its condition throws: \(text)"
    }
  }

  private func missingItem(in request: NetworkRequest) -> String? {
    let wanted = query + (path?.query ?? [])
    guard !wanted.isEmpty else { return nil }
    let items = Query(percentEncoded: request.url.query(percentEncoded: true) ?? "").items
    return wanted.first { !items.contains($0) }.map { "the query has no \($0.name)=\($0.value)" }
  }

  private func missingField(in request: NetworkRequest) -> String? {
    for field in headers {
      let values = request.headers.values(for: field.name)
      if values.isEmpty { return "there is no header \(field.name)" }
      if values.contains(field.value) || request.headers[field.name] == field.value { continue }
      let shown = Redactor.standard.redact(request.headers)[field.name] ?? ""
      return "the header \(field.name) is \"\(shown)\""
    }
    return nil
  }
}

extension NetworkError.Code {
  /// No stub of a ``MockTransport`` matches the request; the message gives the reason for each.
  public static let unmatchedRequest = Self(rawValue: "unmatchedRequest")
}

extension NetworkError {
  static func unmatchedRequest(_ request: NetworkRequest, _ mismatches: [String]) -> NetworkError {
    guard !mismatches.isEmpty else {
      return NetworkError(.unmatchedRequest, "the mock transport has no stubs; add one with on(…)", request: request)
    }
    let list = mismatches.enumerated().map { "\n  \($0 + 1). \($1)" }.joined()
    return NetworkError(
      .unmatchedRequest,
      "no stub of the mock transport matches \(request):\(list)\nadd one with on(…), or change one of these",
      request: request)
  }
}
