/// The secrets of a call at one moment: those in the fields of its requests, and the values that behaviors added.
///
/// A behavior that keeps facts of a call beyond its end keeps these too, and hides them in what it shows:
///
/// ```swift
/// let shown = redactor.hiding(secrets.values(for: redactor))
/// ```
public struct CallSecrets: Sendable {
  // The fields are stored as they were, because the redactor that asks decides which of their values are secret.
  private(set) var added: [String] = []
  // Most calls have the fields of one request, and a list of them would cost another allocation.
  private var latest: HeaderFields
  private var earlier: [HeaderFields] = []

  /// Creates the secrets of a call whose user set these fields.
  init(user: HeaderFields = HeaderFields()) { latest = user }

  /// Returns the values that a redactor must hide.
  ///
  /// - Parameter redactor: Decides which values of the fields are secret.
  /// - Returns: The values, not redacted.
  public func values(for redactor: Redactor) -> [String] { values(for: redactor, and: HeaderFields()) }

  /// Returns the values that a redactor must hide, and those in further fields.
  func values(for redactor: Redactor, and fields: HeaderFields) -> [String] {
    var values = added
    for fields in earlier { redactor.addSecrets(in: fields, to: &values) }
    redactor.addSecrets(in: latest, to: &values)
    // The request that is described is most often the latest.
    if !fields.isEmpty, !fields.isIdentical(to: latest), fields != latest {
      redactor.addSecrets(in: fields, to: &values)
    }
    return values
  }

  mutating func add(_ secret: String) {
    if !added.contains(where: { $0.hasBytes(of: secret) }) { added.append(secret) }
  }

  mutating func add(_ secrets: [String]) {
    // A body can have thousands of values, of which comparing each with all others would take seconds.
    guard added.count + secrets.count <= 64 else { return added.append(contentsOf: secrets) }
    for secret in secrets { add(secret) }
  }

  /// Adds the secrets of another call.
  mutating func add(_ other: CallSecrets) {
    if added.isEmpty {
      // Most calls have none of their own, and many may wait for one call: they share its list.
      added = other.added
    } else {
      // The other call may have begun with these secrets. Without a comparison they would double each time.
      let known = Set(added.map { Array($0.utf8) })
      add(other.added.filter { !known.contains(Array($0.utf8)) })
    }
    for fields in other.earlier where !earlier.contains(fields) { add(fields) }
    if !earlier.contains(other.latest) { add(other.latest) }
  }

  /// Adds the fields of a request on its way.
  mutating func add(_ fields: HeaderFields) {
    guard !fields.isEmpty, fields != latest else { return }
    // Most behaviors only add fields: the longer list has all secrets of the shorter one.
    if !fields.starts(with: latest) { earlier.append(latest) }
    latest = fields
  }
}

extension Call {
  /// Adds a value that no description of this call may show, such as a key that a behavior puts into the path.
  ///
  /// Values of header fields that are marked sensitive or named like a credential need not be added.
  ///
  /// - Parameter secret: The value; a value of less than four bytes is not searched for.
  public func addSecret(_ secret: String) { withState { $0.secrets.add(secret) } }

  /// Adds the secrets in the fields of a request on its way.
  func noteSecrets(in headers: HeaderFields) { withState { $0.secrets.add(headers) } }

  /// Adds the secrets that a redirected request had in its query, and in its body if the next request lacks it.
  ///
  /// A server may repeat them in its response to the next request. ``Redactor/standard`` decides which values they are,
  /// because a body itself would stay in memory as long as the call.
  ///
  /// - Parameters:
  ///   - redirected: The request that got a redirect.
  ///   - next: The request that follows the redirect.
  public func noteSecrets(of redirected: NetworkRequest, before next: NetworkRequest) {
    noteSecrets(of: redirected, withBody: next.body == nil)
  }

  /// Adds the secrets in the query and the body of a request.
  ///
  /// A behavior may have added them to a request that failed, and the error of a transport of the user's, which has no
  /// request, may quote them.
  func noteSecrets(of request: NetworkRequest, withBody: Bool = true) {
    var values = Redactor.standard.secrets(inQueryOf: request.url)
    if withBody { values += Redactor.standard.secrets(inBodyOf: request) }
    guard !values.isEmpty else { return }
    withState { $0.secrets.add(values) }
  }

  /// The secrets of the call, as known by now.
  public var secrets: CallSecrets { withState { $0.secrets } }
}
