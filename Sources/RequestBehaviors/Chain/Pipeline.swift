/// The list of behaviors that a request runs through, outermost first.
///
/// ```swift
/// print(try client.pipeline(for: Request<User>.get("users/1")))
/// // 1. LoggingBehavior            observation   configuration
/// // 2. RedirectsBehavior          redirects     built in
/// // 3. NonceVerificationBehavior  verification  configuration
/// ```
public struct Pipeline: Sendable {
  /// The list in which a behavior was named.
  public enum Source: String, Sendable {
    /// The client itself.
    case builtIn = "built in"
    /// The configuration.
    case configuration
    /// The request.
    case request
  }

  /// One behavior of the list.
  public struct Entry: Sendable {
    /// The behavior.
    public let behavior: any RequestBehavior
    /// Its place.
    public fileprivate(set) var order: BehaviorOrder
    /// The list that named it.
    public let source: Source
    /// Whether `intercept` does not run, because the call that needs this prerequisite is within it.
    let runsHooksOnly: Bool
    /// The behavior, if it adds credentials.
    public let credential: (any CredentialBehavior)?
    /// Whether the behavior proves the credential of another one.
    let isProof: Bool
    /// Whether ``RequestBehavior/ordered(_:)`` put it in one place with members of its group that have other places.
    fileprivate(set) var isMovedWithGroup = false
    /// The name of the group that lists the behavior; empty without a group.
    let group: String

    init(
      _ behavior: any RequestBehavior, order: BehaviorOrder, source: Source, runsHooksOnly: Bool = false,
      group: String = ""
    ) {
      self.behavior = behavior
      self.order = order
      self.source = source
      self.runsHooksOnly = runsHooksOnly
      self.credential = behavior as? any CredentialBehavior
      self.isProof = behavior is any CredentialProof
      self.group = group
    }

    /// The name of the behavior's type, and its own name if it has one.
    public var name: String { Self.name(of: behavior) }

    private static func name(of behavior: any RequestBehavior) -> String {
      let type = String(describing: type(of: behavior))
      switch behavior {
      case let unique as any UniqueBehavior where !unique.name.isEmpty: return "\(type) \"\(unique.name)\""
      case let closure as ClosureBehavior: return closure.name
      default: return type
      }
    }
  }

  /// The behaviors, outermost first.
  public let entries: [Entry]
  /// The settings that the request has: its own over the configuration's.
  public let options: RequestOptions

  /// Makes the list: later lists replace unique behaviors of earlier ones, then all are sorted by order.
  ///
  /// - Throws: ``NetworkError`` of code `invalidBehavior` if one list names a unique behavior twice.
  init(
    _ lists: [(Source, [any RequestBehavior])], without removed: [any RequestBehavior.Type] = [],
    options: RequestOptions = RequestOptions()
  ) throws {
    // A behavior of a request replaces the configuration's, and removed types are left out of all lists.
    var entries: [Entry] = []
    for (source, behaviors) in lists {
      let added = Pipeline.flatten(behaviors, source: source)
      let identities = try Pipeline.identities(of: added)
      entries.removeAll { entry in Pipeline.identity(of: entry).map(identities.contains) ?? false }
      entries += added
    }
    let unwanted = Set(removed.map { ObjectIdentifier($0) })
    entries.removeAll { unwanted.contains(ObjectIdentifier(type(of: $0.behavior))) }
    self.entries = entries.enumerated()
      .sorted { ($0.element.order, $0.offset) < ($1.element.order, $1.offset) }
      .map(\.element)
    self.options = options
  }

  static func flatten(
    _ behaviors: [any RequestBehavior], source: Source, hooksOnly: Bool = false, in name: String = ""
  ) -> [Entry] {
    behaviors.flatMap { behavior -> [Entry] in
      guard let group = behavior as? BehaviorGroup else {
        return [Entry(behavior, order: behavior.order, source: source, runsHooksOnly: hooksOnly, group: name)]
      }
      return group.members.flatMap { member in
        var entries = flatten(
          [member.behavior], source: source, hooksOnly: hooksOnly || member.runsHooksOnly,
          in: group.name.isEmpty ? name : group.name)
        guard let order = member.order else { return entries }
        // A group of one place may be anywhere else as a whole.
        let isMoved = entries.contains { $0.order != entries[0].order }
        for index in entries.indices {
          entries[index].order = order
          if isMoved { entries[index].isMovedWithGroup = true }
        }
        return entries
      }
    }
  }
}

extension Pipeline: CustomStringConvertible {
  /// The list as a table: number, name, place and source of each behavior in a line; then the ``warnings``.
  public var description: String { ([table] + warnings.map { "warning: \($0)" }).joined(separator: "\n") }

  private var table: String {
    // The columns have the width of their longest text.
    let nameWidth = entries.map(\.name.count).max() ?? 0
    let orderWidth = entries.map(\.order.description.count).max() ?? 0
    let numberWidth = "\(entries.count)".count
    return entries.enumerated().map { index, entry in
      let number = "\(index + 1)"
      return String(repeating: " ", count: numberWidth - number.count) + number + ". "
        + entry.name.padded(to: nameWidth) + "  " + entry.order.description.padded(to: orderWidth) + "  "
        + entry.source.rawValue
    }.joined(separator: "\n")
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
