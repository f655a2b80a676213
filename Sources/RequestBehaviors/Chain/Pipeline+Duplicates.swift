import Foundation

/// Behaviors that may be in a list once.
extension Pipeline {
  struct Identity: Hashable {
    let type: ObjectIdentifier
    let name: String
  }

  static func identity(of entry: Entry) -> Identity? {
    guard let unique = entry.behavior as? any UniqueBehavior else { return nil }
    return Identity(type: ObjectIdentifier(type(of: unique)), name: unique.name)
  }

  static func identities(of entries: [Entry]) throws -> Set<Identity> {
    var seen: [Identity: Entry] = [:]
    for entry in entries {
      guard let identity = identity(of: entry) else { continue }
      if let first = seen.updateValue(entry, forKey: identity) { throw NetworkError.listedTwice(entry, first) }
    }
    return Set(seen.keys)
  }
}

extension NetworkError {
  /// The error of a behavior that is twice in a list; it names the group that lists it, such as `.resilience()`.
  fileprivate static func listedTwice(_ entry: Pipeline.Entry, _ first: Pipeline.Entry) -> NetworkError {
    let place = "in the \(entry.source.rawValue)'s behaviors"
    guard let group = [first.group, entry.group].first(where: { !$0.isEmpty }) else {
      return NetworkError(
        .invalidBehavior,
        "\(entry.name) is listed twice \(place); list it once, or give one of them a name by `name:`, if its factory takes one"
      )
    }
    let isInBoth = first.group == entry.group
    return NetworkError(
      .invalidBehavior,
      "\(entry.name) is listed twice \(place), \(isInBoth ? "both times" : "once") by \(group); "
        + (isInBoth ? "list the group once" : "pass yours to \(group), or leave that one out by passing nil"))
  }
}
