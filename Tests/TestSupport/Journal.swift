import Foundation

/// The events in order; shared by the parts of a test.
package final class Journal: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var lines: [String] = []

  package init() {}

  package func note(_ line: String) { lock.withLock { lines.append(line) } }

  package var entries: [String] { lock.withLock { lines } }

  package func count(of line: String) -> Int { entries.count { $0 == line } }
}

/// A value that several tasks change.
package final class Box<Value: Sendable>: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var stored: Value

  package init(_ value: Value) { stored = value }

  package var value: Value {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }

  package func update<Result>(_ change: (inout Value) -> Result) -> Result { lock.withLock { change(&stored) } }
}
