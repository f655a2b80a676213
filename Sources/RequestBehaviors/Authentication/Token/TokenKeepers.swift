import Foundation

/// The keepers of all stores in use, so that two sessions over one store share one.
///
/// A lock that lives shorter than the store that it guards guards nothing.
enum TokenKeepers {
  private enum Place: Hashable {
    case object(ObjectIdentifier)
    case location(ObjectIdentifier, String)

    init(_ store: any TokenStore) {
      self = store.location.map { .location(ObjectIdentifier(type(of: store)), $0) } ?? .object(ObjectIdentifier(store))
    }
  }

  private struct Entry {
    weak var keeper: TokenKeeper?
  }

  private static let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private static var entries: [Place: Entry] = [:]

  /// Returns the keeper of a store; it stays the same for as long as anybody uses it.
  static func keeper(
    of store: any TokenStore, policy: TokenRefreshPolicy, clock: RequestClock?
  ) -> TokenKeeper {
    lock.withLock {
      let place = Place(store)
      if let keeper = entries[place]?.keeper { return keeper }
      entries = entries.filter { $0.value.keeper != nil }
      let keeper = TokenKeeper(store: store, policy: policy, clock: clock)
      entries[place] = Entry(keeper: keeper)
      return keeper
    }
  }
}
