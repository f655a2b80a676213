import Foundation
import RequestBehaviors
import RequestBehaviorsCaching

extension CacheStoreConformance {
  /// The cases about responses that were requested before a removal and must not be stored after it.
  static let removals: [Case] = [
    Case(.removals, "a response that was requested before its URL, its scope or everything was removed is refused") {
      bench in
      for removal in StoreBench.Removal.allCases {
        for scopes in [["alice"], ["alice", "app"], ["app", "alice"]] {
          let key = bench.key("\(removal)", scopes: scopes)
          let mark = try await bench.store.mark()
          switch removal {
          case .scope: try await bench.store.removeAll(scope: "alice")
          default: try await bench.remove(removal, of: key)
          }
          let saving = try await bench.store.save(bench.response("old"), for: key, matching: [:], since: mark)
          try bench.equal(saving, .refused(.changedMeanwhile), "what became of it after the removal of \(removal)")
          try bench.equal(try await bench.text(for: key), nil, "body after the removal of \(removal)")
        }
      }
    },
    Case(.removals, "a removal before the request, or of something else, refuses nothing") { bench in
      let key = bench.key("a", scopes: ["alice"])
      for removal in StoreBench.Removal.allCases { try await bench.remove(removal, of: key) }
      let mark = try await bench.store.mark()
      try await bench.store.removeAll(url: bench.key("b").url)
      try await bench.store.removeAll(url: bench.key("a?").url)
      try await bench.store.removeAll(scope: "bob")
      try await bench.store.removeAll(scope: "alice2")
      // An owner and a URL may have the same name, but are removed separately.
      try await bench.store.removeAll(scope: key.url)
      try await bench.store.removeAll(url: "alice")
      let saving = try await bench.store.save(bench.response("new"), for: key, matching: [:], since: mark)
      try bench.equal(saving.refusal, nil, "the refusal")
      try bench.equal(try await bench.text(for: key), "new", "body")
    },
    Case(.removals, "a response that is refused leaves what is stored alone") { bench in
      let key = bench.key()
      let mark = try await bench.store.mark()
      try await bench.store.removeAll(url: key.url)
      try await bench.save(bench.response("new"), for: key)
      _ = try await bench.store.save(bench.response("old"), for: key, matching: [:], since: mark)
      try bench.equal(try await bench.text(for: key), "new", "body")
    },
    Case(.removals, "a removal is not forgotten because 1,100 others came after it") { bench in
      let key = bench.key("a", scopes: ["alice"])
      let mark = try await bench.store.mark()
      try await bench.store.removeAll(scope: "alice")
      for number in 0..<1_100 { try await bench.store.removeAll(url: bench.key("\(number)").url) }
      let saving = try await bench.store.save(bench.response("old"), for: key, matching: [:], since: mark)
      try bench.hold(saving.refusal != nil, "a response is stored that was requested before its scope was removed")
      try bench.equal(try await bench.text(for: key), nil, "body")
      try await bench.save(bench.response("new"), for: key)
    },
    Case(.removals, "a removal in the middle of a save leaves nothing") { bench in
      for round in 0..<50 {
        let key = bench.key("\(round)", scopes: ["alice"])
        let mark = try await bench.store.mark()
        async let saving = bench.store.save(bench.response("old"), for: key, matching: [:], since: mark)
        async let removal: Void = bench.remove(StoreBench.Removal.allCases[round % 3], of: key)
        _ = try await (saving, removal)
        try bench.equal(try await bench.text(for: key), nil, "body after a removal")
      }
    },
  ]

  /// The cases about a store that is limited by bytes.
  static let room: [Case] = [
    Case(.room, "no more bytes are kept than fit, and the latest response is") { bench in
      let count = bench.place.capacity / 10
      for number in 0..<40 {
        let key = bench.key("\(number)")
        try await bench.save(bench.response(Data(repeating: 1, count: count)), for: key)
        _ = try await bench.found(for: key)
        let entries = try await bench.store.entries(limit: .max)
        let size = entries.reduce(0) { $0 + $1.response.size + $1.bodySize }
        try bench.hold(size <= bench.place.capacity, "\(size) bytes are kept, wanted \(bench.place.capacity) at most")
        try bench.hold(entries.count >= min(number + 1, 5), "\(entries.count) of \(number + 1) responses are kept")
      }
    },
    Case(.room, "what was not used for the longest time goes first, and evictions are told") { bench in
      let body = Data(repeating: 1, count: bench.place.capacity / 8)
      for name in ["a", "b", "c"] { try await bench.save(bench.response(body), for: bench.key(name)) }
      _ = try await bench.found(for: bench.key("a"))
      var evicted = 0
      for number in 0..<20 where evicted == 0 {
        let key = bench.key("\(number)")
        let saving = try await bench.store.save(
          bench.response(body), for: key, matching: [:], since: try await bench.store.mark())
        evicted = saving.evicted
        let left = try await bench.store.entries(limit: .max).map(\.key)
        try bench.equal(4 + number - left.count, evicted, "evicted responses")
        guard evicted > 0 else { continue }
        try bench.hold(left.contains(bench.key("a")), "what was used last of three is gone")
        try bench.hold(!left.contains(bench.key("b")), "what was not used for the longest time is kept")
      }
      try bench.hold(evicted > 0, "nothing was evicted")
    },
    Case(.room, "a response that is larger than the store is refused, and only what it replaces goes") { bench in
      let (a, b) = (bench.key("a"), bench.key("b"))
      for key in [a, b] { try await bench.save(bench.response("small"), for: key) }
      let large = bench.response(Data(repeating: 1, count: bench.place.capacity))
      let saving = try await bench.store.save(large, for: a, matching: [:], since: try await bench.store.mark())
      try bench.equal(saving, .refused(.tooLarge), "what became of it")
      try bench.equal(try await bench.text(for: a), nil, "body of what it replaces")
      try bench.equal(try await bench.text(for: b), "small", "body of another response")
    },
    Case(.room, "a response that nearly fills the store is kept") { bench in
      try await bench.save(bench.response(Data(count: bench.place.capacity / 10)), for: bench.key("a"))
      let body = Data(repeating: 1, count: bench.place.capacity * 19 / 20)
      try await bench.save(bench.response(body), for: bench.key("b"))
      try bench.equal(try await bench.found(for: bench.key("b")).body.count, body.count, "bytes")
    },
  ]

  /// The cases about two objects that use one store.
  static let sharing: [Case] = [
    Case(.sharing, "a second store finds, updates and removes what the first saved") { bench in
      let second = try await bench.secondStore()
      try bench.hold(second.digestKey == bench.store.digestKey, "the keys for digests differ")
      let key = bench.key("a", scopes: ["alice"])
      for body in [Data("small".utf8), Data(repeating: 1, count: 100_000)] {
        let old = bench.response(body)
        try await bench.save(old, for: key)
        try bench.hold(try await bench.found(for: key, in: second) == old, "it finds another response")
        var new = bench.response(body, after: 5)
        new = StoredResponse(
          statusCode: 200, headers: ["A": "b"], body: body, variant: new.variant, storedAt: old.storedAt,
          terms: new.terms)
        try await second.update(old, to: new, for: key)
        try bench.hold(try await bench.found(for: key) == new, "the first does not see what the second updated")
        try await second.remove(new, for: key)
        try bench.equal(try await bench.text(for: key), nil, "body of what the second removed")
      }
    },
    Case(.sharing, "a response that one requested before the other removed it is refused") { bench in
      let second = try await bench.secondStore()
      for (one, other) in [(bench.store, second), (second, bench.store)] {
        for removal in StoreBench.Removal.allCases {
          let key = bench.key("a", scopes: ["alice"])
          let mark = try await one.mark()
          try await bench.remove(removal, of: key, in: other)
          let saving = try await one.save(bench.response("old"), for: key, matching: [:], since: mark)
          try bench.equal(saving, .refused(.changedMeanwhile), "what became of it after the removal of \(removal)")
          try await bench.save(bench.response("new"), for: key, in: one)
          try bench.equal(try await bench.text(for: key, in: other), "new", "body")
        }
      }
    },
  ]
}
