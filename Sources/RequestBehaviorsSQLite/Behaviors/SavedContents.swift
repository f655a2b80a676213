import Foundation
import RequestBehaviors

/// The contents of a cache that a store has saved, for the saves that skip what a cache had.
///
/// A cache also has content that was never saved: its save failed, or the cache fetched it in the background.
final class SavedContents: Sendable {
  private enum Content: Sendable, Equatable {
    case saved(storedAt: Date)
    case unsaved
  }

  private let contents = Locked<[SaveKey: Content]>([:])

  /// The most requests that are remembered.
  private static let limit = 1_000

  /// Tells whether a content that a cache had is saved.
  ///
  /// The first one of a request counts as saved: it may come from an earlier run, and its rows may have changed since.
  ///
  /// - Parameters:
  ///   - date: When the cache stored the content.
  ///   - key: The request and the save.
  /// - Returns: Whether it is saved.
  func has(storedAt date: Date, _ key: SaveKey) -> Bool {
    if let content = contents.withLock({ $0[key] }) { return content == .saved(storedAt: date) }
    note(.saved(storedAt: date), key)
    return true
  }

  /// Records that a content which a cache has is saved.
  func noteSaved(storedAt date: Date, _ key: SaveKey) { note(.saved(storedAt: date), key) }

  /// Records that a content was not saved, though a cache may have it.
  func noteUnsaved(_ key: SaveKey) { note(.unsaved, key) }

  private func note(_ content: Content, _ key: SaveKey) {
    contents.withLock { contents in
      if contents.count == Self.limit, contents[key] == nil { contents = [:] }
      contents[key] = content
    }
  }
}
