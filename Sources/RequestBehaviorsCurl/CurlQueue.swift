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

    private let limit: Int
    private let total: Int
    private var hosts: [Origin?: Host] = [:]
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
      return hosts[origin, default: Host()].append(item, turn: turn)
    }

    /// Removes a waiting item by its number.
    package mutating func remove(_ number: Int, of origin: Origin?) {
      guard hosts[origin]?.remove(number) != nil else { return }
      waitingCount -= 1
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
      defer { dropIfUnused(origin) }
      guard waitingCount > 0, let next = nextOrigin(after: origin), let item = hosts[next]?.removeFirst() else {
        return nil
      }
      hosts[next]?.count += 1
      count += 1
      waitingCount -= 1
      return item
    }

    /// Returns the origin of the item that may go next.
    private func nextOrigin(after origin: Origin?) -> Origin?? {
      // Items of other hosts wait for this release only if there is a total limit.
      guard total < .max else { return hosts[origin]?.first == nil ? nil : .some(origin) }
      let ready = hosts.lazy.filter { $0.value.count < limit }.compactMap { host in
        host.value.first.map { (turn: $0.turn, origin: host.key) }
      }
      guard let next = ready.min(by: { $0.turn < $1.turn }) else { return nil }
      return .some(next.origin)
    }

    private mutating func dropIfUnused(_ origin: Origin?) {
      if hosts[origin]?.isUnused == true { hosts[origin] = nil }
    }
  }
#endif
