#if canImport(CRequestBehaviorsCurl)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import TestSupport
  import Testing

  /// Which transfers libcurl has, and which wait.
  @Suite(.limited) struct CurlQueueTests {
    private let origins = (0..<3).compactMap { URL(string: "http://host\($0)/").flatMap { Origin($0) } }

    @Test func `a host gets as many places as its limit, and the others follow in their order`() {
      var queue = CurlQueue<Int>(limit: 2, total: nil)
      #expect((1...5).map { queue.add($0, to: origins[0]) == nil } == [true, true, false, false, false])
      #expect(queue.count == 2)
      #expect((1...5).map { _ in queue.release(origins[0]) } == [3, 4, 5, nil, nil])
      #expect(queue.count == 0)
    }

    @Test func `the queue of one host does not block other hosts`() {
      var queue = CurlQueue<Int>(limit: 1, total: nil)
      #expect(queue.add(1, to: origins[0]) == nil)
      #expect(queue.add(2, to: origins[0]) != nil)
      #expect(queue.add(3, to: origins[1]) == nil)
      #expect(queue.release(origins[1]) == nil)
      #expect(queue.release(origins[0]) == 2)
    }

    @Test func `a removed entry does not get a place`() throws {
      var queue = CurlQueue<Int>(limit: 1, total: nil)
      _ = queue.add(1, to: origins[0])
      let numbers = (2...5).compactMap { queue.add($0, to: origins[0]) }
      try #require(numbers.count == 4)
      for index in [0, 2] { queue.remove(numbers[index], of: origins[0]) }
      // A second removal has no effect.
      queue.remove(numbers[0], of: origins[0])
      #expect((1...3).map { _ in queue.release(origins[0]) } == [3, 5, nil])
    }

    @Test func `under a limit for all hosts the entry that has waited longest follows`() {
      var queue = CurlQueue<Int>(limit: 2, total: 2)
      #expect(queue.add(1, to: origins[0]) == nil)
      #expect(queue.add(2, to: origins[0]) == nil)
      #expect(queue.add(3, to: origins[1]) != nil)
      #expect(queue.add(4, to: origins[2]) != nil)
      #expect(queue.add(5, to: origins[0]) != nil)
      #expect([0, 0, 1, 2, 0].map { queue.release(origins[$0]) } == [3, 4, 5, nil, nil])
    }

    /// The processor time that a line of so many items takes, from the first to the last.
    private func time(of count: Int, removing: Bool) -> Duration {
      var queue = CurlQueue<Int>(limit: 1, total: nil)
      let start = ThreadTime.now
      _ = queue.add(0, to: origins[0])
      let numbers = (1...count).compactMap { queue.add($0, to: origins[0]) }
      if removing {
        for number in numbers.reversed() { queue.remove(number, of: origins[0]) }
      } else {
        for _ in numbers { _ = queue.release(origins[0]) }
      }
      return ThreadTime.now - start
    }

    @Test(arguments: [true, false])
    func `removing an entry costs the same, however many wait`(removing: Bool) async {
      #expect(await Growth.isLinear(from: 1_000) { time(of: $0, removing: removing) })
    }

    /// The processor time that so many items take, each of a host of its own, where one may go at a time.
    private func timeOfHosts(_ count: Int, removing: Bool) -> Duration {
      var queue = CurlQueue<Int>(limit: 1, total: 1)
      let hosts = (0...count).compactMap { URL(string: "http://host\($0)/").flatMap { Origin($0) } }
      let start = ThreadTime.now
      let numbers = hosts.indices.map { queue.add($0, to: hosts[$0]) }
      for (host, number) in zip(hosts, numbers) {
        if let number, removing { queue.remove(number, of: host) } else { _ = queue.release(host) }
      }
      return ThreadTime.now - start
    }

    @Test(arguments: [true, false])
    func `under a limit for all hosts removing an entry costs the same, however many hosts wait`(removing: Bool) async {
      #expect(await Growth.isLinear(from: 250) { timeOfHosts($0, removing: removing) })
    }

    @Test func `under a limit for all hosts a removed entry and an entry of a full host do not get a place`() throws {
      var queue = CurlQueue<Int>(limit: 1, total: 2)
      #expect(queue.add(1, to: origins[0]) == nil)
      #expect(queue.add(2, to: origins[1]) == nil)
      let third = queue.add(3, to: origins[2])
      let removed = try #require(third)
      #expect(queue.add(4, to: origins[0]) != nil)
      #expect(queue.add(5, to: origins[2]) != nil)
      queue.remove(removed, of: origins[2])
      #expect([1, 2, 0, 0].map { queue.release(origins[$0]) } == [5, nil, 4, nil])
    }

    @Test(arguments: [nil, 7])
    func `random operations lose no entry, repeat none, and exceed no limit`(total: Int?) {
      var generator = SeededGenerator(seed: 7)
      var queue = CurlQueue<Int>(limit: 3, total: total)
      var running: [Origin: Set<Int>] = [:]
      var waiting: [Int: (number: Int, origin: Origin)] = [:]
      var ended: Set<Int> = []
      func begin(_ item: Int) { running[origins[item % 3], default: []].insert(item) }
      for item in 0..<20_000 {
        let origin = origins[item % 3]
        if let number = queue.add(item, to: origin) { waiting[item] = (number, origin) } else { begin(item) }
        for _ in 0..<Int.random(in: 0...2, using: &generator) {
          if Int.random(in: 0..<4, using: &generator) == 0, let (gone, place) = waiting.randomElement(using: &generator)
          {
            queue.remove(place.number, of: place.origin)
            waiting[gone] = nil
            ended.insert(gone)
          } else if let origin = origins.randomElement(using: &generator), let item = running[origin]?.popFirst() {
            ended.insert(item)
            if let next = queue.release(origin) {
              #expect(waiting.removeValue(forKey: next) != nil)
              begin(next)
            }
          }
        }
        let counts = origins.map { running[$0]?.count ?? 0 }
        if counts.contains(where: { $0 > 3 }) || counts.reduce(0, +) > total ?? .max { Issue.record("\(counts)") }
      }
      while let origin = origins.first(where: { running[$0]?.isEmpty == false }), let item = running[origin]?.popFirst()
      {
        ended.insert(item)
        if let next = queue.release(origin) {
          waiting[next] = nil
          begin(next)
        }
      }
      #expect(waiting.isEmpty)
      #expect(ended.count == 20_000)
      #expect(queue.count == 0)
    }
  }
#endif
