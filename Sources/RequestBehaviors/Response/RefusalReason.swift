extension AuthenticationScheme {
  /// What the challenges of a refusal say, for an error's message, without secrets; `nil` if there are none.
  static func summary(of challenges: [AuthenticationScheme]) -> String? {
    guard !challenges.isEmpty else { return nil }
    return "challenge " + challenges.map(\.summary).joined(separator: "; ")
  }

  /// Parameters of a challenge that hold no secret; a nonce is left out.
  private static let shownParameters: Set = ["realm", "error", "error_description", "scope"]

  private var summary: String {
    let shown = parameters.filter { AuthenticationScheme.shownParameters.contains($0.name.lowercased()) }
    let list = shown.map { "\($0.name)=\"\(Redactor.standard.redact(line: $0.value))\"" }.joined(separator: ", ")
    return list.isEmpty ? name : "\(name) \(list)"
  }
}

extension NetworkResponse {
  private enum RefusalReason: ResponseInfoKey {
    typealias Value = String
  }

  /// Why the server refused the request, as the message of ``NetworkError/unacceptableStatus(_:)`` shows it.
  ///
  /// A behavior that can read the reason from the response sets it, without secrets. Else it is what the challenges of
  /// a 401 say (RFC 9110 §11.6.1), and `nil` for other statuses.
  public var refusalReason: String? {
    get {
      if let reason = info[RefusalReason.self] { return reason }
      guard statusCode == 401 else { return nil }
      return AuthenticationScheme.summary(
        of: headers.values(for: "WWW-Authenticate").flatMap(AuthenticationScheme.list))
    }
    set { info[RefusalReason.self] = newValue }
  }
}
