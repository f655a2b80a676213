import RequestBehaviors

extension Benchmark {
  /// A benchmark of the cost of the five behaviors that users list: logging, timing, a token, retries and headers.
  static let stack = Benchmark(
    name: "stack",
    summary: "the five behaviors that users list, alone and together, beside as many that do nothing"
  ) { effort in
    let count = 2_000
    // The token has the usual length of access tokens.
    let value = String(repeating: "c2VjcmV0LXRva2Vu", count: 4)
    let session = TokenSession(source: .closure { _ in AccessToken(value, lifetime: .seconds(3_600)) })
    let five: [(label: String, behavior: any RequestBehavior)] = [
      ("logging", .logging(ClosureLogSink { _ in })), ("timing", .timing(LatencyStatistics())),
      ("a token", .tokenAuth(session)), ("retries", .retry()),
      ("headers", .headers(["X-Client": "benchmarks", "Accept-Language": "en"])),
    ]
    let empty = five.map { EmptyBehavior(order: $0.behavior.order) as any RequestBehavior }
    let lists =
      [[], empty] + five.map { [$0.behavior] } + [[five[0].behavior, five[2].behavior], five.map(\.behavior)]
    let works = lists.map { behaviors -> Measure.Work in
      let client = NetworkClient(baseURL: baseURL, behaviors: behaviors, transport: NullTransport())
      return {
        for _ in 0..<count { try await client.send(.get("users/\(1)", query: ["page": 2])) }
      }
    }
    let costs = try await Measure.sideBySide(rounds: effort.shortRounds, count: count, works)
    func more(_ index: Int) -> Double { costs[index].excess(over: costs[0]) }
    let sum = (2..<7).map(more).reduce(0, +)
    let (pair, all) = (more(7), more(8))
    let alone = zip(five, 2..<7).map { entry, index in
      Row(label: entry.label, figure: "\(more(index).formatted(0)) ns more")
    }
    return [
      Row(label: "no behavior", figure: costs[0].typical.cpuDescription),
      Row(label: "five that do nothing", figure: "\(more(1).formatted(0)) ns more"),
    ] + alone + [
      Row(
        label: "logging and a token, beside each alone", figure: "\(pair.formatted(0)) ns more",
        ratio: pair / (more(2) + more(4)), target: .atMost(1.5, pair / (more(2) + more(4)))),
      Row(
        label: "all five, beside each alone", figure: "\(all.formatted(0)) ns more", ratio: all / sum,
        target: .atMost(1.5, all / sum)),
    ]
  }
}
