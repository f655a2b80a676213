extension Pipeline {
  /// The contradictions in the list, such as a timeout that is longer than the deadline.
  ///
  /// A warning does not make a request fail. A test may expect that there are no warnings:
  ///
  /// ```swift
  /// let pipeline = try client.pipeline(for: Request<User>.get("me"))
  /// #expect(pipeline.warnings.isEmpty)
  /// ```
  ///
  /// Each is a sentence that names the behaviors, the values and the remedy. They come from
  /// ``RequestBehavior/warnings(in:)``, and from ``RequestOption/warning(for:in:)`` of each option that is set.
  /// Behaviors that ``RequestBehavior/ordered(_:)`` put on the wrong side of each other are named too
  /// (<doc:TheStandardOrder>).
  public var warnings: [String] {
    let all =
      entries.flatMap { $0.behavior.warnings(in: self) } + movedGroups + misplacements + contests
      + options.warnings(in: self)
    // Two behaviors of a type give the same warnings.
    var known: Set<String> = []
    return all.filter { known.insert($0).inserted }
  }

  /// Returns a warning for each behavior that adds a credential further in than another one, and returns no owner.
  ///
  /// - Parameters:
  ///   - keeper: The behavior that stores or shares responses.
  ///   - consequence: The feature that is lost without an owner.
  /// - Returns: The sentences.
  public func warningsOfUnknownOwners<Keeper: RequestBehavior>(for keeper: Keeper.Type, _ consequence: String)
    -> [String]
  {
    guard let outer = entries.firstIndex(where: { $0.behavior is Keeper }) else { return [] }
    let unscoped = entries[(outer + 1)...].filter { entry in
      entry.addsCredentials && !entry.behavior.hasOwnScope
    }
    return unscoped.map { entry -> String in
      "\(entry.name) adds a credential further in than \(entries[outer].name) and gives no scope, so \(consequence); "
        + "give it a scope(for:) that tells its users apart"
    }
  }

  /// Returns the behavior of a type: the outermost of several, `nil` if the list has no such behavior.
  public func behavior<Behavior: RequestBehavior>(_ type: Behavior.Type) -> Behavior? {
    for entry in entries { if let behavior = entry.behavior as? Behavior { return behavior } }
    return nil
  }
}

extension Pipeline {
  /// A warning for each group that was put in one place, although its members have several.
  private var movedGroups: [String] {
    let moved = entries.filter(\.isMovedWithGroup)
    var groups = Dictionary(grouping: moved) { [$0.group, $0.order] as [AnyHashable] }
    return moved.compactMap { first in
      guard let members = groups.removeValue(forKey: [first.group, first.order])?.map(\.name) else { return nil }
      return "ordered(_:) puts all members of \(first.group.isEmpty ? "a group" : first.group) at the place "
        + "\(first.order): \(members.joined(separator: ", ")); list each of them without the group, and use ordered(_:) "
        + "for those that are to be elsewhere"
    }
  }

  /// A warning for each credential that another one of the same field replaces, further in and for the same origins.
  private var contests: [String] {
    let wanted = entries.filter { entry in
      entry.credential.map { options.authentication.includes($0.credential) } ?? false
    }
    return wanted.indices.compactMap { index in
      guard let outer = wanted[index].credential, let field = outer.credentialField else { return nil }
      let inner = wanted[(index + 1)...].last { entry in
        guard let other = entry.credential, let name = other.credentialField else { return false }
        return HeaderFields.areEqual(name, field) && other.origins == outer.origins
      }
      guard let inner else { return nil }
      return "\(wanted[index].name) and \(inner.name) both set \(field), and the latter wins; choose with "
        + ".with(\\.authentication, .only(\"\(outer.credential)\"))"
    }
  }
}
