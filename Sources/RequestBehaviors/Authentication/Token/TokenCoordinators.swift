/// The coordinators of all stores in use, so that two sessions over one store share one.
///
/// A coordinator must live as long as a session over its store, or two sessions could refresh the same token.
enum TokenCoordinators {
  private enum Place: Hashable {
    case object(ObjectIdentifier)
    case location(ObjectIdentifier, String)

    init(_ store: any TokenStore) {
      self = store.location.map { .location(ObjectIdentifier(type(of: store)), $0) } ?? .object(ObjectIdentifier(store))
    }
  }

  private static let table = Locked(WeakTable<Place, TokenCoordinator>())

  /// Returns the coordinator of a store; it stays the same as long as a session uses it.
  static func coordinator(
    of store: any TokenStore, policy: TokenRefreshPolicy, clock: RequestClock?, account: String?
  ) -> TokenCoordinator {
    table.withLock { table in
      // A file that was closed and opened again needs another one, over the store that is open.
      let coordinator = table.object(for: Place(store), if: { !$0.isClosed }) {
        TokenCoordinator(store: store, policy: policy, clock: clock, account: account)
      }
      coordinator.stores.withLock { $0.add(store) }
      return coordinator
    }
  }
}
