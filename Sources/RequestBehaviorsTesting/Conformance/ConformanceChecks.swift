/// The checks of a case.
protocol ConformanceChecks: Sendable {}

extension ConformanceChecks {
  func hold(_ condition: Bool, _ problem: @autoclosure () -> String) throws {
    if !condition { throw ConformanceFailure(problem()) }
  }

  func equal<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: @autoclosure () -> String) throws {
    try hold(found == wanted, "\(what()): \(found), wanted \(wanted)")
  }
}
