#if canImport(CRequestBehaviorsCurl)
  package import RequestBehaviors

  /// The transfers that libcurl has, and those that wait for a connection.
  ///
  /// In each turn libcurl looks at every transfer that it has, even at those that wait for a connection. So it gets no
  /// more transfers than it can connect.
  package struct CurlQueue<Item> {
    /// The items of a host.
    private struct Host {
      /// The number of its items that libcurl has.
      var count = 0
      /// The waiting items in their order; `nil` for those that have left.
      var line: [(turn: Int, item: Item)?] = []
      /// The number of items that were removed from the front.
      var gone = 0
      var waitingCount = 0

      var first: (turn: Int, item: Item)? { line.first ?? nil }

      mutating func append(_ item: Item, turn: Int) -> Int {
        line.append((turn, item))
        waitingCount += 1
        return gone + line.count - 1
      }

      mutating func remove(_ number: Int) {
        guard number >= gone, line[number - gone] != nil else { return }
        line[number - gone] = nil
        waitingCount -= 1
        dropGone()
      }

      mutating func removeFirst() -> Item? {
        guard let first else { return nil }
        remove(gone)
        return first.item
      }

      /// Removes items that have left from the front of the line.
      private mutating func dropGone() {
        guard waitingCount > 0 else {
          gone += line.count
          return line.removeAll()
        }
        let count = line.prefix { $0 == nil }.count
        line.removeFirst(count)
        gone += count
      }
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
      guard var host = hosts[origin] else { return }
      host.remove(number)
      waitingCount -= (hosts[origin]?.waitingCount ?? 0) - host.waitingCount
      keep(host, of: origin)
    }

    /// Records that libcurl has released an item.
    ///
    /// - Returns: The item that has waited longest among those that libcurl may have now; `nil` if there is no such
    ///   item.
    package mutating func release(_ origin: Origin?) -> Item? {
      guard var host = hosts[origin] else { return nil }
      host.count -= 1
      count -= 1
      keep(host, of: origin)
      guard waitingCount > 0, let origin = nextOrigin(after: origin), var next = hosts[origin] else { return nil }
      let item = next.removeFirst()
      next.count += 1
      count += 1
      waitingCount -= 1
      keep(next, of: origin)
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

    private mutating func keep(_ host: Host, of origin: Origin?) {
      hosts[origin] = host.count == 0 && host.waitingCount == 0 ? nil : host
    }
  }
#endif
