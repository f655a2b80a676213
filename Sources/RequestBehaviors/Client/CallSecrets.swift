/// What a call knows to be secret: the values in the header fields of its requests, and what was added to them.
///
/// The fields are kept as they were, because which of their values are secret depends on the redactor that asks.
struct CallSecrets: Sendable {
  private(set) var added: [String] = []
  // Most calls have the fields of one request: a list of them would be another allocation for each.
  private var latest: HeaderFields
  private var earlier: [HeaderFields] = []

  /// Creates the secrets of a call whose user set these fields.
  init(user: HeaderFields = HeaderFields()) { latest = user }

  /// The values that a redactor must hide.
  func values(for redactor: Redactor) -> [String] {
    added + (earlier + [latest]).flatMap { redactor.secrets(in: $0) }
  }

  mutating func add(_ secret: String) {
    if !added.contains(secret) { added.append(secret) }
  }

  /// Adds the fields of a request as it was on its way.
  mutating func add(_ fields: HeaderFields) {
    guard !fields.isEmpty, fields != latest else { return }
    if !latest.isEmpty { earlier.append(latest) }
    latest = fields
  }
}

extension Call {
  /// Notes a value that no description of this call may show, such as a key that a behavior puts into the path.
  ///
  /// The values of header fields that are marked sensitive or mean a credential need not be noted.
  ///
  /// - Parameter secret: The value; one of less than four bytes is not looked for.
  public func addSecret(_ secret: String) { withState { $0.secrets.add(secret) } }

  /// Notes the secrets in the fields of a request as it was on its way.
  func noteSecrets(in headers: HeaderFields) { withState { $0.secrets.add(headers) } }

  /// What the call knows to be secret.
  var secrets: CallSecrets { withState { $0.secrets } }
}
