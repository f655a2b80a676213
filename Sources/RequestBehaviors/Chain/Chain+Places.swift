extension Chain {
  /// The facts about a place in the list that a request needs at every step.
  struct Place: Sendable {
    /// The hooks to call.
    let toCall: HookSet
    /// Whether it is known which hooks are defaults, apart from `afterFailure`.
    let isKnown: Bool
    /// Whether a failure will tell if `afterFailure` is a default.
    let learnsFromFailure: Bool
    /// Whether the behavior adds credentials, so that some requests skip it.
    let hasCredential: Bool

    init(_ entry: Pipeline.Entry) {
      // A run that a seed decides must not depend on the requests before it, so it calls the defaults too.
      let isLearning = !RandomSource.isReplaced
      let knowledge = isLearning ? LearnedHooks.shared.knowledge(of: entry.behavior) : LearnedHooks.Knowledge()
      toCall = entry.runsHooksOnly ? knowledge.toCall.subtracting(.intercept) : knowledge.toCall
      isKnown = !isLearning || knowledge.known.isSuperset(of: .ofSuccess)
      learnsFromFailure = isLearning && !knowledge.known.contains(.afterFailure)
      hasCredential = entry.credential != nil
    }
  }
}

extension Pipeline {
  /// The index of the first behavior that is further in than all caches, and than the place of a cache.
  var endOfCaches: Int {
    let end = entries.firstIndex { $0.order.standard > .caching } ?? entries.count
    let last = entries.lastIndex { $0.behavior is any ResponseCache }
    return max(end, last.map { $0 + 1 } ?? 0)
  }
}

extension Chain {
  /// The places of the list that a prerequisite request passes too.
  ///
  /// Behaviors that add credentials, or share or store responses, are left out, and so are places where a behavior may
  /// hold a resource while it waits.
  private static let prerequisiteOrders: Set<BehaviorOrder> = [
    .observation, .deadline, .request, .retry, .hedging, .redirects, .circuitBreaker, .rateLimit, .verification, .last,
  ]

  /// Returns a client whose behaviors cannot wait for a caller at an index of this list.
  ///
  /// The caller is within the `intercept` of all behaviors further out, which may hold a permit. Of these only the
  /// other hooks run, unless the behavior says that it holds nothing.
  func prerequisiteClient(
    for caller: Int, omitting types: [any RequestBehavior.Type], parent: Call
  ) -> NetworkClient {
    NetworkClient(
      configuration: prerequisiteConfiguration(for: caller, omitting: types), transport: transport,
      parent: NetworkClient.Parent(parent), lifetime: lifetime)
  }

  /// Returns the configuration of prerequisites; without an index, no behavior is around their caller.
  func prerequisiteConfiguration(
    for caller: Int? = nil, omitting types: [any RequestBehavior.Type] = []
  ) -> RequestConfiguration {
    let omitted = Set(types.map { ObjectIdentifier($0) })
    var configuration = configuration
    configuration.behaviors = pipeline.entries.enumerated().compactMap { index, entry in
      guard entry.source == .configuration, Chain.prerequisiteOrders.contains(entry.order.standard) else { return nil }
      guard !omitted.contains(ObjectIdentifier(type(of: entry.behavior))) else { return nil }
      let isAroundCaller = caller.map { index <= $0 } == true && !entry.behavior.runsForPrerequisites
      return BehaviorGroup(entry.behavior, order: entry.order, hooksOnly: entry.runsHooksOnly || isAroundCaller)
    }
    // The prerequisite cannot require the credentials that it is to get.
    configuration.options.withdrawRequiredAuthentication()
    // Nor may it wait in a limit for the requests that wait for it.
    configuration.options.priority = .prerequisite
    return configuration
  }
}
