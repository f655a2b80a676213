/// Decides when an indicator changes: counts in, decisions out.
struct ActivityState: Sendable {
  /// A change that is due later, unless another comes before.
  struct Change: Sendable, Equatable {
    let isActive: Bool
    let generation: Int
  }

  private(set) var count = 0
  private(set) var isShown = false
  private var generation = 0

  /// Counts a request that begins; returns what it may change.
  mutating func begin() -> Change? {
    count += 1
    return count == 1 ? propose() : nil
  }

  /// Counts a request that ends; returns what it may change.
  mutating func end() -> Change? {
    count -= 1
    return count == 0 ? propose() : nil
  }

  /// Makes a change that is due, unless another has taken its place; returns what to show if that is new.
  mutating func settle(_ change: Change) -> Bool? {
    guard change.generation == generation, change.isActive != isShown else { return nil }
    isShown = change.isActive
    return isShown
  }

  private mutating func propose() -> Change? {
    generation += 1
    let isActive = count > 0
    return isActive == isShown ? nil : Change(isActive: isActive, generation: generation)
  }
}
