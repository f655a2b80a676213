import Foundation
import RequestBehaviors
import RequestBehaviorsCaching

extension CacheStoreConformance {
  /// The cases about updating responses.
  static let changing: [Case] = [
    Case(.changing, "an update changes everything but the body, and no other response") { bench in
      let key = bench.key()
      for (value, count) in [("1", 10), ("2", 100_000)] {
        let body = Data(repeating: 7, count: count)
        let old = bench.response(body, variant: ["foo": value])
        try await bench.save(old, for: key, matching: ["Foo": value])
        try await bench.save(bench.response("other"), for: bench.key(value, scopes: ["alice"]))
        for sample in samples {
          let current = try await bench.found(for: key, matching: ["Foo": value])
          var new = StoredResponse(
            statusCode: sample.statusCode, headers: sample.headers, body: Data(), variant: old.variant,
            storedAt: old.storedAt, terms: sample.terms)
          new.verification = sample.verification
          try await bench.store.update(current, to: new, for: key)
          new.body = body
          let found = try await bench.found(for: key, matching: ["Foo": value])
          try bench.equal(found.body.count, count, "bytes after an update")
          try bench.equal(found.terms, new.terms, "terms after an update")
          try bench.equal(found.headers, new.headers, "header fields after an update")
          try bench.hold(found == new, "the response is another one than it was updated to")
        }
        try bench.equal(
          try await bench.text(for: bench.key(value, scopes: ["alice"])), "other", "body of another key")
      }
      try bench.equal(
        try await bench.found(for: key, matching: ["Foo": "1"]).body.count, 10, "bytes of another variant")
    },
    Case(.changing, "an update of a response that was removed brings nothing back") { bench in
      let key = bench.key()
      let old = bench.response("old")
      try await bench.save(old, for: key)
      try await bench.store.removeAll(url: key.url)
      try await bench.store.update(old, to: bench.response("", after: 5), for: key)
      try bench.equal(try await bench.text(for: key), nil, "body")
    },
    Case(.changing, "an update of a response that was replaced changes nothing") { bench in
      for (what, seconds) in [("later", 1.0), ("a millisecond later", 0.001)] {
        let key = bench.key(what)
        let old = bench.response("old")
        try await bench.save(old, for: key)
        let newer = bench.response("newer", after: seconds)
        try await bench.save(newer, for: key)
        try await bench.store.update(old, to: bench.response("", after: 50), for: key)
        try bench.hold(try await bench.found(for: key) == newer, "a response that came \(what) is changed")
      }
    },
  ]

  /// The cases about removing responses.
  static let removing: [Case] = [
    Case(.changing, "removing a response takes that one, and none that has its place since") { bench in
      let key = bench.key()
      let (one, two) = (bench.response("1", variant: ["foo": "1"]), bench.response("2", variant: ["foo": "2"]))
      try await bench.save(one, for: key, matching: ["Foo": "1"])
      try await bench.save(two, for: key, matching: ["Foo": "2"])
      try await bench.save(bench.response("1", variant: ["foo": "1"]), for: bench.key("b"), matching: ["Foo": "1"])
      try await bench.store.remove(one, for: key)
      try bench.equal(try await bench.text(for: key, matching: ["Foo": "1"]), nil, "body of what was removed")
      try bench.equal(try await bench.text(for: key, matching: ["Foo": "2"]), "2", "body of another variant")
      try bench.equal(try await bench.text(for: bench.key("b"), matching: ["Foo": "1"]), "1", "body of another key")
      try await bench.save(bench.response("newer", variant: ["foo": "2"], after: 1), for: key, matching: ["Foo": "2"])
      try await bench.store.remove(two, for: key)
      try bench.equal(try await bench.text(for: key, matching: ["Foo": "2"]), "newer", "body of what came since")
    },
    Case(.changing, "removing a URL takes all of its responses, and no others") { bench in
      let url = bench.key("a_b").url
      let own = [
        bench.key("a_b"), bench.key("a_b", scopes: ["alice"]), bench.key("a_b", scopes: ["bob"], discriminator: "d"),
      ]
      let others = [bench.key("a_b?c"), bench.key("a_b/"), bench.key("A_b"), bench.key("axb"), bench.key("a_")]
      for key in own + others { try await bench.save(bench.response(Data(count: 70_000 / own.count)), for: key) }
      try await bench.save(bench.response("1", variant: ["foo": "1"], after: 1), for: own[0], matching: ["Foo": "1"])
      try await bench.store.removeAll(url: url)
      let left = try await bench.store.entries(limit: .max).map(\.key)
      try bench.equal(Set(left.map(\.url)), Set(others.map(\.url)), "URLs that are left")
      try bench.equal(left.count, others.count, "entries that are left")
      for key in own { try bench.equal(try await bench.text(for: key), nil, "body for \(key)") }
      for key in others { _ = try await bench.found(for: key) }
    },
    Case(.changing, "removing a scope takes its responses, whatever other scopes they have, and no others") { bench in
      let names = ["alice", "ali", "alice2", "Alice", "al_ce", "al%", "", "alice\nbob", "alice\\nbob", "\\", "bob"]
      for removed in names {
        try await bench.store.removeAll()
        for name in names { try await bench.save(bench.response(name), for: bench.key("a", scopes: [name])) }
        try await bench.save(bench.response("first"), for: bench.key("b", scopes: [removed, "app"]))
        try await bench.save(bench.response("last"), for: bench.key("b", scopes: ["app", removed]))
        try await bench.save(bench.response("public"), for: bench.key("a"))
        try await bench.store.removeAll(scope: removed)
        let left = try await bench.store.entries(limit: .max).map(\.key.scopes)
        let wanted = names.filter { $0 != removed }.map { [$0] } + [[]]
        try bench.equal(Set(left), Set(wanted), "scopes that are left without \(removed.debugDescription)")
        try bench.equal(left.count, wanted.count, "entries that are left")
      }
    },
    Case(.changing, "removing everything leaves nothing, and the store goes on") { bench in
      for name in ["a", "b"] { try await bench.save(bench.response(Data(count: 100_000)), for: bench.key(name)) }
      try await bench.store.removeAll()
      try bench.equal(try await bench.store.entries(limit: .max).count, 0, "entries")
      try bench.equal(try await bench.text(for: bench.key("a")), nil, "body")
      try await bench.save(bench.response("new"), for: bench.key("a"))
      try bench.equal(try await bench.text(for: bench.key("a")), "new", "body")
    },
    Case(.changing, "what a task removes that was cancelled is gone, unless the removal throws") { bench in
      let key = bench.key("a", scopes: ["alice"])
      for removal in StoreBench.Removal.allCases {
        try await bench.save(bench.response("a"), for: key)
        let hasRemoved = await Task {
          withUnsafeCurrentTask { $0?.cancel() }
          do { try await bench.remove(removal, of: key) } catch { return false }
          return true
        }.value
        guard hasRemoved else { continue }
        try bench.equal(try await bench.text(for: key), nil, "body after the removal of \(removal)")
      }
    },
  ]
}
