extension CacheContents {
  /// The most responses of one key.
  ///
  /// Each look-up goes through all of them, and a server may vary by a field whose value is never the same twice.
  private static let variantLimit = 64

  /// Removes the least recently used responses until the rest fits into the capacity.
  mutating func evict() {
    while size > capacity, let oldest = nodes.oldest { remove(at: oldest) }
  }

  /// Removes the least recently used response of a key that has as many as it may have.
  mutating func evictVariant(of key: CacheKey) {
    let own = positions(of: key)
    if own.count >= CacheContents.variantLimit, let oldest = nodes.leastRecentlyUsed(of: own) { remove(at: oldest) }
  }
}
