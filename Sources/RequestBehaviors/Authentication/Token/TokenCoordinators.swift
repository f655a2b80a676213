import Foundation

/// The coordinators of all stores in use, so that two sessions over one store share one.
///
/// A lock that lives shorter than the store that it guards guards nothing.
enum TokenCoordinators {
  private enum Place: Hashable {
    case object(ObjectIdentifier)
    case location(ObjectIdentifier, String)

    init(_ store: any TokenStore) {
      self = store.location.map { .location(ObjectIdentifier(type(of: store)), $0) } ?? .object(ObjectIdentifier(store))
    }
  }

  private struct Entry {
    weak var coordinator: TokenCoordinator?
  }

  private static let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private static var entries: [Place: Entry] = [:]

  /// Returns the coordinator of a store; it stays the same for as long as anybody uses it.
  static func coordinator(
    of store: any TokenStore, policy: TokenRefreshPolicy, clock: RequestClock?
  ) -> TokenCoordinator {
    lock.withLock {
      let place = Place(store)
      if let coordinator = entries[place]?.coordinator { return coordinator }
      entries = entries.filter { $0.value.coordinator != nil }
      let coordinator = TokenCoordinator(store: store, policy: policy, clock: clock)
      entries[place] = Entry(coordinator: coordinator)
      return coordinator
    }
  }
}
