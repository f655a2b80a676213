import Foundation

/// The destinations of all downloads of the process.
package final class DownloadDestinations: Sendable {
  package static let shared = DownloadDestinations()

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var paths: Set<String> = []
  // Protected by `lock`: the unfinished files to remove when a destination becomes free, by its first path.
  nonisolated(unsafe) private var unwanted: [String: [DownloadRecord]] = [:]
  // Protected by `lock`: the paths at which an unfinished file is being removed, or the download of a user who has left
  // ends, and the downloads that wait for that.
  nonisolated(unsafe) private var removing: Set<String> = []
  nonisolated(unsafe) private var waiters: [Waiter<Void>] = []

  /// Records that the download at a destination ends, because its user has left: the next one waits for that.
  func noteEnd(at places: [String]) { lock.withLock { removing.formUnion(paths.intersection(places)) } }

  /// The holder of a path that is taken already.
  enum Obstacle {
    case download
    /// The unfinished file of a user who has left is being removed, or that user's download ends.
    case removal(Waiter<Void>)
  }

  /// Takes all paths, or none if one is taken.
  ///
  /// - Returns: The holder of one of them; `nil` if all have been taken.
  func insert(_ wanted: [String], forRemoval isRemoval: Bool) -> Obstacle? {
    lock.withLock {
      let taken = paths.intersection(wanted)
      guard taken.isEmpty else {
        // A removal does not wait: the holder of the place is told what else to remove (`discardLater`).
        guard !isRemoval, taken.isSubset(of: removing) else { return .download }
        let waiter = Waiter<Void>()
        waiters.append(waiter)
        return .removal(waiter)
      }
      paths.formUnion(wanted)
      if isRemoval { removing.formUnion(wanted) }
      return nil
    }
  }

  /// Frees all paths, unless an unfinished file is to be removed there first.
  ///
  /// - Returns: Whether the paths are free; if not, ``unwanted(at:)`` returns what to remove.
  func remove(_ released: [String]) -> Bool {
    let released: [Waiter<Void>]? = lock.withLock {
      guard released.first.flatMap({ unwanted[$0] }) == nil else { return nil }
      paths.subtract(released)
      guard !removing.isDisjoint(with: released) else { return [] }
      removing.subtract(released)
      defer { waiters = [] }
      return waiters
    }
    guard let released else { return false }
    // A download whose path is still taken waits again.
    for waiter in released { waiter.settle(.success(())) }
    return true
  }

  /// The number of downloads that wait for a removal.
  package var waiterCount: Int { lock.withLock { waiters.count } }

  /// Records an unfinished file to remove when a destination becomes free; `false` if it is free.
  func discardLater(_ record: DownloadRecord, at places: [String]) -> Bool {
    lock.withLock {
      guard let place = places.first, paths.contains(place) else { return false }
      unwanted[place, default: []].append(record)
      return true
    }
  }

  /// Returns the unfinished files to remove at a destination, and forgets them.
  func unwanted(at places: [String]) -> [DownloadRecord] {
    lock.withLock { places.first.flatMap { unwanted.removeValue(forKey: $0) } ?? [] }
  }
}
