import Foundation
import RequestBehaviors
import RequestBehaviorsCaching

extension CacheStoreConformance {
  /// The cases about finding responses as they were saved.
  static let finding: [Case] = [
    Case(.finding, "every field of a response comes back as it was") { bench in
      for (index, sample) in samples.enumerated() {
        let key = bench.key("\(index)", scopes: ["user"], discriminator: "d")
        let request: HeaderFields = ["Accept": "a:b:c", "X-Empty": ""]
        try await bench.save(sample, for: key, matching: request)
        let found = try await bench.found(for: key, matching: request)
        try bench.equal(found.statusCode, sample.statusCode, "status")
        try bench.equal(found.headers, sample.headers, "header fields")
        try bench.equal(found.variant, sample.variant, "variant")
        try bench.equal(found.terms, sample.terms, "terms")
        try bench.equal(found.storedAt, sample.storedAt, "storedAt")
        try bench.equal(found.verification, sample.verification, "verification")
        try bench.hold(found == sample, "the response is another one than was saved")
      }
    },
    Case(.finding, "a body of any length comes back whole") { bench in
      for count in [0, 1, 255, 65_535, 65_536, 65_537, 200_000] {
        let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let key = bench.key("\(count)")
        try await bench.save(bench.response(body), for: key)
        let found = try await bench.found(for: key).body
        try bench.equal(found.count, count, "bytes")
        try bench.hold(found == body, "a body of \(count) bytes has other bytes than were saved")
      }
    },
    Case(.finding, "a response is found by the requests that its variant matches, and by no other") { bench in
      let key = bench.key()
      try await bench.save(bench.response("1", variant: ["foo": "1"]), for: key, matching: ["Foo": "1"])
      try bench.equal(try await bench.text(for: key, matching: ["foo": "1"]), "1", "body for Foo: 1")
      try bench.equal(try await bench.text(for: key, matching: ["Foo": "2"]), nil, "body for Foo: 2")
      try bench.equal(try await bench.text(for: key), nil, "body without Foo")
      let absent = bench.key("absent")
      try await bench.save(bench.response("none", variant: ["foo": nil]), for: absent)
      try bench.equal(try await bench.text(for: absent), "none", "body without Foo")
      try bench.equal(try await bench.text(for: absent, matching: ["Foo": ""]), nil, "body for an empty Foo")
    },
    Case(.finding, "variants are kept beside each other, and a response takes the place of its own") { bench in
      let key = bench.key()
      for value in ["1", "2", "3:4"] {
        try await bench.save(bench.response(value, variant: ["foo": value]), for: key, matching: ["Foo": value])
      }
      try await bench.save(bench.response("new", variant: ["foo": "2"], after: 1), for: key, matching: ["Foo": "2"])
      for (value, text) in [("1", "1"), ("2", "new"), ("3:4", "3:4")] {
        try bench.equal(try await bench.text(for: key, matching: ["Foo": value]), text, "body for Foo: \(value)")
      }
      try bench.equal(try await bench.store.entries(limit: 9).count, 3, "entries")
    },
    Case(.finding, "a response takes the place of those that its request matches, whatever these vary by") { bench in
      let key = bench.key()
      try await bench.save(bench.response("old", variant: ["foo": "1"]), for: key, matching: ["Foo": "1"])
      try await bench.save(bench.response("new", variant: ["bar": nil], after: -9), for: key, matching: ["Foo": "1"])
      try bench.equal(try await bench.text(for: key, matching: ["Foo": "1"]), "new", "body")
      try bench.equal(try await bench.store.entries(limit: 9).count, 1, "entries")
    },
    Case(.finding, "of several responses that match the most recent is found, in whatever order they came") { bench in
      for (order, times) in [("older first", (0.0, 9.0)), ("newer first", (9.0, 0.0))] {
        let key = bench.key(order)
        // The request of the second response does not match the first one, but the second one matches every request.
        let (first, second) = (bench.response("first", variant: ["foo": "1"], after: times.0), times.1)
        try await bench.save(first, for: key, matching: ["Foo": "1"])
        try await bench.save(bench.response("second", after: second), for: key, matching: ["Foo": "2"])
        let newer = times.0 > times.1 ? "first" : "second"
        try bench.equal(try await bench.text(for: key, matching: ["Foo": "1"]), newer, "body, \(order)")
        try bench.equal(try await bench.text(for: key, matching: ["Foo": "2"]), "second", "body for another, \(order)")
      }
    },
    Case(.finding, "entries have their keys and sizes and no bodies, the latest saved first") { bench in
      for (index, name) in ["a", "b", "c"].enumerated() {
        let key = bench.key(name, scopes: [name, "two\nlines"], discriminator: "d\(index)")
        try await bench.save(bench.response(Data(count: index * 40_000)), for: key)
      }
      let entries = try await bench.store.entries(limit: .max)
      try bench.equal(
        entries.map(\.key),
        ["c", "b", "a"].enumerated().map { bench.key($1, scopes: [$1, "two\nlines"], discriminator: "d\(2 - $0)") },
        "keys")
      try bench.equal(entries.map(\.bodySize), [80_000, 40_000, 0], "sizes")
      try bench.hold(entries.allSatisfy { $0.response.body.isEmpty }, "an entry has a body")
      try bench.hold(entries.allSatisfy { $0.response.statusCode == 200 }, "an entry has another status")
      for (limit, count) in [(0, 0), (1, 1), (2, 2), (9, 3)] {
        try bench.equal(try await bench.store.entries(limit: limit).count, count, "entries of at most \(limit)")
      }
    },
    Case(.finding, "many tasks at once find what they saved") { bench in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            for step in 0..<20 {
              let key = bench.key("\(task)/\(step % 5)", scopes: ["\(task)"])
              try await bench.save(bench.response("\(task) \(step)"), for: key)
              try bench.equal(try await bench.text(for: key), "\(task) \(step)", "body")
              if step % 7 == 6 { try await bench.store.removeAll(scope: "\(task)") }
            }
          }
        }
        try await group.waitForAll()
      }
    },
  ]

  /// Responses to save: one in which every field differs from its default, and one for each field in which only that
  /// field differs.
  static let samples: [StoredResponse] = {
    var secret = HeaderFields([
      .init("Content-Type", "text/plain"), .init("X-A", "1"), .init("x-a", "2: \"3\""), .init("X-Empty", ""),
      .init("X-Umlaut", "ä; b=\u{1F600}"),
    ])
    secret.append("X-Session", "canary", sensitive: .any)
    let variant = CacheVariant(fields: [
      .init(name: "accept", value: "a:b:c"), .init(name: "foo", value: nil), .init(name: "x-empty", value: ""),
    ])
    let (stored, received) = (StoreBench.date, StoreBench.date.addingTimeInterval(61.7))
    func sample(_ change: (inout StoredTerms) -> Void, _ verification: NetworkResponse.Verification) -> StoredResponse {
      var terms = StoredTerms(responseTime: received, initialAge: 1.25, lifetime: 60.5)
      change(&terms)
      var response = StoredResponse(
        statusCode: 203, headers: secret, body: Data(0...255), variant: variant, storedAt: stored, terms: terms)
      response.verification = verification
      return response
    }
    return [
      sample(
        { terms in
          (terms.requiresValidation, terms.forbidsStale, terms.isImmutable) = (true, true, true)
          (terms.staleWhileRevalidate, terms.staleIfError) = (6, 7.5)
        }, .verified),
      sample({ _ in }, .none),
      sample({ $0.requiresValidation = true }, .none),
      sample({ $0.forbidsStale = true }, .none),
      sample({ $0.isImmutable = true }, .none),
      sample({ $0.staleWhileRevalidate = 0 }, .none),
      sample({ $0.staleIfError = 8 }, .none),
      sample({ $0.lifetime = -1 }, .verified),
    ]
  }()
}
