import Foundation
import RequestBehaviors
import RequestBehaviorsCaching

extension CacheStoreConformance {
  /// The cases about the parts of a key, all of which count.
  static let keys: [Case] = [
    Case(.finding, "nothing is found under another URL, of other scopes or with another discriminator") { bench in
      let key = bench.key("a", scopes: ["alice", "app"], discriminator: "d")
      try await bench.save(bench.response("own"), for: key)
      let others = [
        bench.key("A", scopes: ["alice", "app"], discriminator: "d"),
        bench.key("a?", scopes: ["alice", "app"], discriminator: "d"),
        bench.key("a", scopes: ["alice"], discriminator: "d"), bench.key("a", discriminator: "d"),
        bench.key("a", scopes: ["bob", "app"], discriminator: "d"),
        bench.key("a", scopes: ["alice", "app", ""], discriminator: "d"),
        bench.key("a", scopes: ["alice\napp"], discriminator: "d"),
        bench.key("a", scopes: ["alice,app"], discriminator: "d"),
        bench.key("a", scopes: ["alice", "app"]), bench.key("a", scopes: ["alice", "app"], discriminator: "d2"),
      ]
      for other in others { try bench.equal(try await bench.text(for: other), nil, "body for \(other)") }
      for other in others { try await bench.save(bench.response("\(other)"), for: other) }
      try bench.equal(try await bench.text(for: key), "own", "body")
      for other in others { try bench.equal(try await bench.text(for: other), "\(other)", "body for \(other)") }
    },
    Case(.finding, "no scope and one without a name are not the same") { bench in
      try await bench.save(bench.response("none"), for: bench.key())
      try await bench.save(bench.response("empty"), for: bench.key(scopes: [""]))
      try bench.equal(try await bench.text(for: bench.key()), "none", "body without a scope")
      try bench.equal(try await bench.text(for: bench.key(scopes: [""])), "empty", "body of a scope without a name")
    },
    Case(.finding, "200 users of one URL each find their own response") { bench in
      for user in 0..<200 { try await bench.save(bench.response("\(user)"), for: bench.key("me", scopes: ["\(user)"])) }
      for user in 0..<200 {
        try bench.equal(try await bench.text(for: bench.key("me", scopes: ["\(user)"])), "\(user)", "body of \(user)")
      }
    },
    Case(.finding, "the key for digests stays, and is another store's in no case") { bench in
      let key = bench.store.digestKey
      try bench.hold(key.count >= 16, "the key has \(key.count) bytes, wanted 16 or more")
      try await bench.save(bench.response("a"), for: bench.key())
      try await bench.store.removeAll(url: bench.key().url)
      try bench.hold(bench.store.digestKey == key, "the key has changed")
      let elsewhere = try Place.temporary()
      defer { elsewhere.remove() }
      let other = try await bench.store(at: elsewhere)
      try bench.hold(other.digestKey != key, "a new store has the same key")
      try bench.hold(bench.store.maximumBodySize >= 0, "maximumBodySize is negative")
    },
  ]
}
