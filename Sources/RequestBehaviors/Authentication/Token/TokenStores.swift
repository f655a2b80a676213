/// The stores of the sessions over one place, of which one is used until it is closed.
struct TokenStores: Sendable {
  private struct Other: Sendable {
    // Weak, because a session that lives long must not keep open the files of those that are gone.
    weak var store: (any ClosableTokenStore)?
  }

  private var current: any TokenStore
  private var others: [Other] = []

  init(_ store: any TokenStore) { current = store }

  /// The store to use: the same one until it is closed, and then an open one of another session, if there is one.
  var open: any TokenStore {
    mutating get {
      guard let closed = current as? any ClosableTokenStore, closed.isClosed else { return current }
      if let open = others.lazy.compactMap(\.store).first(where: { !$0.isClosed }) { current = open }
      return current
    }
  }

  /// Adds the store of another session, which holds it.
  mutating func add(_ store: any TokenStore) {
    guard let store = store as? any ClosableTokenStore, store !== current else { return }
    others.removeAll { $0.store == nil || $0.store === store }
    others.append(Other(store: store))
  }
}
