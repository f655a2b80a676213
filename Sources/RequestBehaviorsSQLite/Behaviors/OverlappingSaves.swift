import Foundation
import RequestBehaviors

/// The calls under way that save at a store, and the latest one of each request whose response is saved.
///
/// Nothing is kept of a request whose last call has ended.
final class OverlappingSaves: Sendable {
  /// The moment at which a request was sent; of two at the same time the one whose call began later is the later one.
  private struct Moment: Comparable {
    let time: Duration
    let number: Int

    static func < (one: Moment, other: Moment) -> Bool { (one.time, one.number) < (other.time, other.number) }
  }

  private struct Calls {
    var count = 0
    /// The latest one whose response is saved, with its call.
    var latest: (moment: Moment, call: ObjectIdentifier)?
    /// When the newest content that is saved was stored in a cache; the distant future if no cache has it.
    var newestContent: Date?
  }

  private struct State {
    var calls: [SaveKey: Calls] = [:]
    /// The number of calls so far.
    var count = 0
  }

  private let state = Locked(State())

  /// An error that ends the save of a response because one to a request that was sent later is saved.
  struct Outdated: Error {}

  /// One call, from before its request is sent to the end of its save.
  struct Save: Sendable {
    fileprivate let saves: OverlappingSaves
    fileprivate let key: SaveKey
    fileprivate let call: ObjectIdentifier
    fileprivate let number: Int
  }

  /// Records that the response to a request is being fetched, to be saved.
  func begin(_ key: SaveKey, _ call: Call) -> Save {
    state.withLock { state in
      state.count += 1
      state.calls[key, default: Calls()].count += 1
      return Save(saves: self, key: key, call: ObjectIdentifier(call), number: state.count)
    }
  }
}

extension OverlappingSaves.Save {
  /// Records that the call saves nothing more.
  func end() {
    saves.state.withLock { state in
      guard var calls = state.calls[key] else { return }
      calls.count -= 1
      state.calls[key] = calls.count > 0 ? calls : nil
    }
  }

  /// Whether other calls for the same are under way.
  var hasOthers: Bool { saves.state.withLock { ($0.calls[key]?.count ?? 0) > 1 } }

  /// Throws if the response to a request that was sent later is saved; call it in the transaction.
  ///
  /// - Parameter time: When the request of this call was sent.
  /// - Throws: `OverlappingSaves.Outdated`.
  func check(sentAt time: Duration) throws {
    let latest = saves.state.withLock { $0.calls[key]?.latest }
    // A call may be saved twice in the same way.
    guard let latest, latest.call != call, OverlappingSaves.Moment(time: time, number: number) < latest.moment else {
      return
    }
    throw OverlappingSaves.Outdated()
  }

  /// Throws if newer content is saved than that of a hit; call it in the transaction.
  ///
  /// - Parameter date: When the content was stored in the cache.
  /// - Throws: `OverlappingSaves.Outdated`.
  func check(storedAt date: Date) throws {
    let newest = saves.state.withLock { $0.calls[key]?.newestContent }
    if let newest, date < newest { throw OverlappingSaves.Outdated() }
  }

  /// Records that the response is saved; call it when the commit is done and before the next transaction begins.
  ///
  /// - Parameters:
  ///   - time: When the request was sent; `nil` for a hit.
  ///   - date: When the content was stored in a cache; `nil` if no cache has it.
  func note(sentAt time: Duration?, storedAt date: Date?) {
    saves.state.withLock { state in
      let newest = state.calls[key]?.newestContent ?? .distantPast
      state.calls[key]?.newestContent = max(newest, date ?? .distantFuture)
      guard let time else { return }
      let moment = OverlappingSaves.Moment(time: time, number: number)
      if let latest = state.calls[key]?.latest, moment < latest.moment { return }
      state.calls[key]?.latest = (moment, call)
    }
  }
}
