/// The latest endings of owners, numbered in their order.
package struct ScopeEndingLog: Sendable {
  /// The number of endings that are remembered, at 32 bytes each.
  ///
  /// Work that lasts longer than so many sign-outs counts as that of an owner who has left, because nothing tells
  /// whether one of them was its own. A server with a session for each user has thousands of them while a long call
  /// runs.
  private static let limit = 100_000

  /// The number of endings so far.
  package private(set) var count: UInt64 = 0
  private var lastForgotten: UInt64 = 0
  /// The number of each owner's latest ending, by the hash of the owner.
  ///
  /// Two owners of one hash would only end too much work.
  private var numbers: [Int: UInt64] = [:]

  /// Creates a log without endings.
  package init() {}

  /// Records that an owner has ended.
  package mutating func note(_ scope: String) {
    count += 1
    numbers[scope.hashValue] = count
    guard numbers.count > ScopeEndingLog.limit else { return }
    // Half are dropped at once, so that sorting is rare.
    let oldest = numbers.values.sorted()[numbers.count / 2]
    numbers = numbers.filter { $0.value > oldest }
    lastForgotten = oldest
  }

  /// Whether one of the owners has ended since there were so many endings.
  package func hasEnded(_ scopes: [String], since count: UInt64) -> Bool {
    guard count < self.count else { return false }
    return count < lastForgotten || scopes.contains { hasEnded($0, since: count) }
  }

  /// Whether an owner has ended since there were so many endings.
  func hasEnded(_ scope: String, since count: UInt64) -> Bool {
    guard count < self.count else { return false }
    return count < lastForgotten || numbers[scope.hashValue].map { $0 > count } ?? false
  }
}
