#if canImport(CRequestBehaviorsCurl)
  package import RequestBehaviors

  /// The transfers that libcurl has, and those that wait for a connection.
  ///
  /// In each turn libcurl looks at every transfer that it has, even at those that wait for a connection. So it gets no
  /// more transfers than it can connect.
  package struct CurlQueue<Item> {
    /// The items of a host.
    ///
    /// It is changed in place, because a copy would copy the whole line.
    private struct Host {
      /// The number of its items that libcurl has.
      var count = 0
      /// The waiting items by their numbers.
      private var line: [Int: (turn: Int, item: Item)] = [:]
      /// The number of the first waiting item.
      private var head = 0
      /// The number of the next item to come.
      private var end = 0

      var isUnused: Bool { count == 0 && line.isEmpty }
      var first: (turn: Int, item: Item)? { line[head] }

      mutating func append(_ item: Item, turn: Int) -> Int {
        defer { end += 1 }
        line[end] = (turn, item)
        return end
      }

      mutating func remove(_ number: Int) -> Item? {
        guard let removed = line.removeValue(forKey: number) else { return nil }
        // Each number is passed once, so that an item costs the same, however many wait.
        while head < end, line[head] == nil { head += 1 }
        return removed.item
      }

      mutating func removeFirst() -> Item? { remove(head) }
    }

    /// The first waiting item of a host.
    private struct Place: Comparable {
      let turn: Int
      let origin: Origin?

      static func < (first: Place, second: Place) -> Bool { first.turn < second.turn }
    }

    private let limit: Int
    private let total: Int
    private var hosts: [Origin?: Host] = [:]
    /// The first items of hosts that may have more, if there is a total limit, and some places that are out of date.
    private var places = Heap<Place>()
    private var turn = 0
    private var waitingCount = 0
    /// The number of items that libcurl has.
    package private(set) var count = 0

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of items of a host that libcurl may have.
    ///   - total: The maximum number in total; `nil` for no limit.
    package init(limit: Int, total: Int?) {
      self.limit = limit
      self.total = total ?? .max
    }

    /// Adds an item.
    ///
    /// - Returns: Its number in the line of its host; `nil` if libcurl may have the item at once.
    package mutating func add(_ item: Item, to origin: Origin?) -> Int? {
      if hosts[origin]?.count ?? 0 < limit, count < total {
        hosts[origin, default: Host()].count += 1
        count += 1
        return nil
      }
      turn += 1
      waitingCount += 1
      let number = hosts[origin, default: Host()].append(item, turn: turn)
      if hosts[origin]?.first?.turn == turn { notePlace(of: origin) }
      return number
    }

    /// Removes a waiting item by its number.
    package mutating func remove(_ number: Int, of origin: Origin?) {
      let first = hosts[origin]?.first?.turn
      guard hosts[origin]?.remove(number) != nil else { return }
      waitingCount -= 1
      if hosts[origin]?.first?.turn != first { notePlace(of: origin) }
      dropIfUnused(origin)
    }

    /// Records that libcurl has released an item.
    ///
    /// - Returns: The item that has waited longest among those that libcurl may have now; `nil` if there is no such
    ///   item.
    package mutating func release(_ origin: Origin?) -> Item? {
      guard hosts[origin] != nil else { return nil }
      hosts[origin]?.count -= 1
      count -= 1
      // Its first item could not go while it had as many as it may.
      if hosts[origin]?.count == limit - 1 { notePlace(of: origin) }
      defer { dropIfUnused(origin) }
      guard waitingCount > 0, let next = nextOrigin(after: origin), let item = hosts[next]?.removeFirst() else {
        return nil
      }
      hosts[next]?.count += 1
      notePlace(of: next)
      count += 1
      waitingCount -= 1
      return item
    }

    /// Returns the origin of the item that may go next.
    private mutating func nextOrigin(after origin: Origin?) -> Origin?? {
      // Items of other hosts wait for this release only if there is a total limit.
      guard total < .max else { return hosts[origin]?.first == nil ? nil : .some(origin) }
      while let place = places.removeFirst() {
        if CurlQueue.isCurrent(place, hosts, limit) { return .some(place.origin) }
      }
      return nil
    }

    /// Notes the first item of a host, if the host may have it and there is a total limit.
    private mutating func notePlace(of origin: Origin?) {
      guard total < .max, let host = hosts[origin], host.count < limit, let first = host.first else { return }
      places.insert(Place(turn: first.turn, origin: origin))
      guard places.count > 2 * hosts.count + 64 else { return }
      let (hosts, limit) = (hosts, limit)
      places.removeAll { !CurlQueue.isCurrent($0, hosts, limit) }
    }

    private static func isCurrent(_ place: Place, _ hosts: [Origin?: Host], _ limit: Int) -> Bool {
      guard let host = hosts[place.origin] else { return false }
      return host.count < limit && host.first?.turn == place.turn
    }

    private mutating func dropIfUnused(_ origin: Origin?) {
      if hosts[origin]?.isUnused == true { hosts[origin] = nil }
    }
  }
#endif
