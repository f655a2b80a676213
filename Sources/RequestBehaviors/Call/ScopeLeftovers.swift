/// The removals of the data that behaviors keep of owners.
///
/// A behavior that keeps data of users in a store registers the removal when it stores something. The removal then runs
/// at the sign-out even if no client has the behavior any more.
///
/// A session refers to those of all its clients, so that the data of its users are removed even if the client that kept
/// them is gone.
public final class ScopeLeftovers: Sendable {
  /// Removes the data of one owner.
  public typealias Removal = @Sendable () async -> Void

  /// How the data of each owner are removed, by the name of the data.
  private let removals = Locked<[String: [String: Removal]]>([:])

  /// Whether no removal is registered.
  public var isEmpty: Bool { removals.withLock { $0.isEmpty } }

  /// Registers a removal that runs when the owner ends; it replaces an earlier one of the same data.
  ///
  /// - Parameters:
  ///   - id: The name of the data, such as that of a file.
  ///   - scope: The owner, as ``RequestBehavior/scope(for:)`` returned it.
  ///   - remove: Removes the data.
  public func add(_ id: String, of scope: String, _ remove: @escaping Removal) {
    removals.withLock { $0[scope, default: [:]][id] = remove }
  }

  /// Drops the removals of data that are gone or that no longer belong to an owner.
  ///
  /// - Parameter id: The name of the data.
  public func forget(_ id: String) {
    removals.withLock { removals in
      for scope in removals.keys { removals[scope]?[id] = nil }
      removals = removals.filter { !$0.value.isEmpty }
    }
  }

  /// Removes the data of an owner.
  ///
  /// - Parameters:
  ///   - scope: The owner.
  ///   - removed: The names of data that have been removed already; none by default.
  public func remove(of scope: String, except removed: Set<String> = []) async {
    let due = removals.withLock { $0.removeValue(forKey: scope) ?? [:] }
    for (id, remove) in due.sorted(by: { $0.key < $1.key }) where !removed.contains(id) { await remove() }
  }
}
