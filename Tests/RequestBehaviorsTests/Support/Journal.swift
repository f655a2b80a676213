import Foundation

/// What happened, in order; shared by the parts of a test.
final class Journal: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var lines: [String] = []

  func note(_ line: String) { lock.withLock { lines.append(line) } }

  var entries: [String] { lock.withLock { lines } }

  func count(of line: String) -> Int { entries.count { $0 == line } }
}

/// A value that several tasks change.
final class Box<Value: Sendable>: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }

  func update<Result>(_ change: (inout Value) -> Result) -> Result { lock.withLock { change(&stored) } }
}
