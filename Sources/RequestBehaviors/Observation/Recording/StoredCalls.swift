import Foundation

/// The calls of a recorder, within its limits.
struct StoredCalls: Sendable {
  /// The date and the time on the calls' clock of the first call.
  private(set) var origin: (date: Date, time: Duration)?
  // Sorted by number, which is nearly the order in which calls begin: a search is shorter than a hash, and to drop the
  // oldest needs no hash at all.
  private var numbers: [UInt64] = []
  private var calls: [StoredCall?] = []
  /// The index of the oldest call; those before it are dropped.
  private var first = 0
  private var size = 0
  private(set) var dropped = 0
  /// The number of calls that were made for others.
  private var childCount = 0
  /// The secrets of calls whose users have signed out: a call that stays may contain one, such as that which brought
  /// a token.
  private(set) var formerSecrets: [String] = []
  /// The most of them that are kept, the latest.
  private static let formerLimit = 1_000

  /// The calls in the order in which they were made.
  var inOrder: [StoredCall] { calls[first...].compactMap(\.self) }

  /// Notes the time from which others count, if this is the first call.
  mutating func begin(_ call: Call) {
    if origin == nil { origin = (call.clock.date(), call.startedAt) }
  }

  mutating func insert(_ call: consuming StoredCall, _ limits: RecordingLimits) {
    let number = call.id.number
    size += call.size
    if number > numbers.last ?? 0 {
      if call.parent != nil { childCount += 1 }
      numbers.append(number)
      calls.append(consume call)
    } else {
      insert(late: consume call)
    }
    trim(to: limits)
  }

  /// Inserts a call that was made before the latest one.
  private mutating func insert(late call: StoredCall) {
    let number = call.id.number
    let place = place(of: number)
    // With two behaviors that tell one recorder, every call begins twice.
    guard numbers[place] != number else {
      size -= call.size
      return
    }
    if call.parent != nil { childCount += 1 }
    numbers.insert(number, at: place)
    calls.insert(call, at: place)
  }

  /// Drops the calls of users who have signed out, and those that were made for them.
  ///
  /// - Parameters:
  ///   - redactor: Tells their secrets.
  ///   - keepsCallsUnderWay: Whether calls under way are kept: their errors may be about the very end of a session.
  mutating func dropCallsOfFormerUsers(_ redactor: Redactor, keepsCallsUnderWay: Bool = false) {
    var former: Set<Call.ID> = []
    var secrets: Set<String> = []
    let kept = inOrder.filter { call in
      // A call begins after the one that needs it.
      let hasLeft = !call.isPresent && !(keepsCallsUnderWay && call.isUnderWay)
      guard hasLeft || call.parent.map(former.contains) ?? false else { return true }
      former.insert(call.id)
      // The calls that a shared flight needed name the flight.
      former.formUnion(call.flightIDs)
      secrets.formUnion(call.secrets(for: redactor))
      return false
    }
    guard !former.isEmpty else { return }
    formerSecrets = (formerSecrets.filter { !secrets.contains($0) } + secrets).suffix(StoredCalls.formerLimit)
    (calls, numbers, first) = (kept, kept.map(\.id.number), 0)
    size = kept.reduce(0) { $0 + $1.size }
    childCount = kept.count { $0.parent != nil }
  }

  /// Changes a call that is kept, and adds to its size the number of bytes that the closure returns.
  mutating func change(_ id: Call.ID, _ limits: RecordingLimits, _ change: (inout StoredCall) -> Int) {
    let place = place(of: id.number)
    guard place < numbers.endIndex, numbers[place] == id.number, let added = calls[place]?.change(by: change) else {
      return
    }
    size += added
    if added > 0 { trim(to: limits) }
  }

  /// The index of the first call whose number is not smaller.
  private func place(of number: UInt64) -> Int {
    // Most often it is the latest one.
    guard let last = numbers.last, last >= number else { return numbers.endIndex }
    var (low, high) = (first, numbers.count - 1)
    if last == number { return high }
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func trim(to limits: RecordingLimits) {
    while numbers.count - first > 1, numbers.count - first > limits.calls || size > limits.bytes {
      passOnOwners()
      let (bytes, isChild) = StoredCalls.empty(&calls[first])
      size -= bytes
      if isChild { childCount -= 1 }
      first += 1
      dropped += 1
    }
    guard first > 1_000, first > numbers.count / 2 else { return }
    numbers.removeFirst(first)
    calls.removeFirst(first)
    first = 0
  }

  /// Has the calls that were made for the oldest one keep its owners, so that they are still dropped with its user.
  private mutating func passOnOwners() {
    guard childCount > 0, let oldest = calls[first] else { return }
    for index in calls.indices.dropFirst(first + 1) where calls[index]?.parent != nil {
      calls[index]?.inherit(from: oldest)
    }
  }

  /// Drops a call, in its place rather than through a copy, and returns its size and whether it was made for another.
  private static func empty(_ place: inout StoredCall?) -> (bytes: Int, isChild: Bool) {
    defer { place = nil }
    return (place?.size ?? 0, place?.parent != nil)
  }
}
