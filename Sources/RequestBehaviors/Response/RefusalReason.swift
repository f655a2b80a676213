extension AuthenticationScheme {
  /// Returns challenges as text for an error's message, without secrets; `nil` if the list is empty.
  static func summary(of challenges: [AuthenticationScheme], _ redactor: Redactor) -> String? {
    guard !challenges.isEmpty else { return nil }
    return "challenge " + challenges.map { $0.summary(redactor) }.joined(separator: "; ")
  }

  /// The parameters of a challenge that hold no secret; a nonce is left out.
  private static let shownParameters: Set = ["realm", "error", "error_description", "scope"]

  private func summary(_ redactor: Redactor) -> String {
    let shown = parameters.filter { AuthenticationScheme.shownParameters.contains($0.name.lowercased()) }
    let list = shown.map { "\($0.name)=\"\(redactor.redact(line: $0.value))\"" }.joined(separator: ", ")
    return list.isEmpty ? name : "\(name) \(list)"
  }
}

extension NetworkResponse {
  private enum RefusalReason: ResponseInfoKey {
    typealias Value = String
  }

  /// The server's reason for refusing the request, for the message of ``NetworkError/unacceptableStatus(_:)``.
  ///
  /// A behavior that can read the reason from the response sets it, without secrets. Otherwise it is the text of a
  /// 401's challenges (RFC 9110 §11.6.1), or that of a 206 that was not asked for, and `nil` for other statuses.
  public var refusalReason: String? {
    get {
      if let reason = info[RefusalReason.self] { return reason }
      if isUnaskedPart { return "it sent a part of the content where all of it was asked for" }
      guard statusCode == 401 else { return nil }
      return AuthenticationScheme.summary(
        of: headers.values(for: "WWW-Authenticate").flatMap(AuthenticationScheme.list),
        Redactor.standard.hiding(secretsOf: request))
    }
    set { info[RefusalReason.self] = newValue }
  }
}
