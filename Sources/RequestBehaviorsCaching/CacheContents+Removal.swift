import RequestBehaviors

extension CacheContents {
  /// Removes a response, unless it was replaced meanwhile.
  public mutating func remove(_ response: StoredResponse, for key: CacheKey) {
    remove(of: key) { $0.isSame(as: response) }
  }

  /// Removes all responses of a URL, and counts the removal.
  public mutating func removeAll(url: String) {
    removals.note(url: url)
    for position in positions[url]?.values.flatMap(\.self) ?? [] { remove(at: position) }
  }

  /// Removes all responses of an owner, and counts the removal.
  public mutating func removeAll(scope: String) {
    removals.note(scope: scope)
    for keys in positions.values {
      for (key, own) in keys where key.scopes.contains(scope) { for position in own { remove(at: position) } }
    }
  }

  /// Removes everything, and counts the removal.
  public mutating func removeAll() {
    removals.noteAll()
    (nodes, positions, size) = (LeastRecentlyUsed(), [:], 0)
  }

  mutating func remove(of key: CacheKey, where condition: (StoredResponse) -> Bool) {
    for position in positions(of: key) {
      if let response = nodes[position]?.response, condition(response) { remove(at: position) }
    }
  }

  mutating func remove(at position: Int) {
    guard let node = nodes[position] else { return }
    size -= node.response.size
    nodes.remove(position)
    let (url, key) = (node.key.url, KeyOfURL(node.key))
    positions[url]?[key]?.removeAll { $0 == position }
    if positions[url]?[key]?.isEmpty == true { positions[url]?[key] = nil }
    if positions[url]?.isEmpty == true { positions[url] = nil }
  }
}
