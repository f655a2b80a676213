/// Which flights wait for the end of which other flights.
///
/// A behavior inside a flight may send a request that joins another flight. A wait that would close a circle is
/// refused: no flight of a circle could end.
struct FlightWaits: Sendable {
  /// How many requests of a flight wait for each other flight.
  private var counts: [ObjectIdentifier: [ObjectIdentifier: Int]] = [:]

  /// Records that flights wait for the end of another.
  ///
  /// - Returns: Whether they may; `false` if that flight is one of them, or waits for one of them itself.
  mutating func begin(_ waiting: [ObjectIdentifier], for flight: ObjectIdentifier) -> Bool {
    guard Set(waiting).isDisjoint(with: all(flight)) else { return false }
    for one in waiting { counts[one, default: [:]][flight, default: 0] += 1 }
    return true
  }

  /// Removes what ``begin(_:for:)`` recorded.
  mutating func end(_ waiting: [ObjectIdentifier], for flight: ObjectIdentifier) {
    for one in waiting {
      guard let count = counts[one]?[flight] else { continue }
      counts[one]?[flight] = count > 1 ? count - 1 : nil
      if counts[one]?.isEmpty == true { counts[one] = nil }
    }
  }

  /// A flight, and all flights for which it waits, directly or through others.
  private func all(_ flight: ObjectIdentifier) -> Set<ObjectIdentifier> {
    var found: Set = [flight]
    var unread = [flight]
    while let next = unread.popLast() {
      for other in (counts[next] ?? [:]).keys where found.insert(other).inserted { unread.append(other) }
    }
    return found
  }
}
