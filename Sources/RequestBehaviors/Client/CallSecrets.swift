/// What a call knows to be secret: the values in the header fields of its requests, and what was added to them.
///
/// The fields are kept as they were: which of their values are secret depends on the redactor that asks.
struct CallSecrets: Sendable {
  private var added: [String] = []
  /// The fields that the user set.
  private let user: HTTPHeaders
  // Most calls send one list of fields, for which no array is needed.
  private var latest = HTTPHeaders()
  private var earlier: [HTTPHeaders] = []

  init(user: HTTPHeaders = HTTPHeaders()) { self.user = user }

  /// The values that a redactor must hide.
  func values(for redactor: Redactor) -> [String] {
    added + ([user, latest] + earlier).flatMap { redactor.secrets(in: $0) }
  }

  mutating func add(_ secret: String) {
    if !added.contains(secret) { added.append(secret) }
  }

  /// Adds the fields of a request as it was on its way.
  mutating func add(_ headers: HTTPHeaders) {
    guard !headers.isEmpty, headers != latest else { return }
    if !latest.isEmpty { earlier.append(latest) }
    latest = headers
  }
}
