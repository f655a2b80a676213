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

  private struct Memory: Sendable {
    var contents: [SaveKey: Content] = [:]
    /// Whether contents of requests that are not among these were forgotten.
    var hasForgotten = false
  }

  private let memory = Locked(Memory())
  /// When the store was opened.
  private let opened: Date

  /// The most requests that are remembered.
  private static let limit = 1_000

  /// Creates a list without contents.
  ///
  /// - Parameter opened: When the store was opened.
  init(since opened: Date) { self.opened = opened }

  /// Tells whether a content that a cache had is saved.
  ///
  /// A content that is not known and from before the store was opened counts as saved: it may come from an earlier run,
  /// and its rows may have changed since. A later one counts as not saved: the cache got it without a save. If there
  /// were too many requests to remember, each content of one that is not remembered counts as not saved.
  ///
  /// - Parameters:
  ///   - date: When the cache stored the content.
  ///   - key: The request and the save.
  /// - Returns: Whether it is saved.
  func has(storedAt date: Date, _ key: SaveKey) -> Bool {
    // One question: a save that fails meanwhile is not forgotten.
    memory.withLock { memory in
      if let content = memory.contents[key] { return content == .saved(storedAt: date) }
      if memory.hasForgotten || date >= opened { return false }
      Self.note(.saved(storedAt: date), key, in: &memory)
      return true
    }
  }

  /// Records that a content which a cache has is saved.
  func noteSaved(storedAt date: Date, _ key: SaveKey) {
    memory.withLock { Self.note(.saved(storedAt: date), key, in: &$0) }
  }

  /// Records that a content was not saved, though a cache may have it.
  func noteUnsaved(_ key: SaveKey) { memory.withLock { Self.note(.unsaved, key, in: &$0) } }

  private static func note(_ content: Content, _ key: SaveKey, in memory: inout Memory) {
    if memory.contents.count == limit, memory.contents[key] == nil { memory = Memory(hasForgotten: true) }
    memory.contents[key] = content
  }
}
