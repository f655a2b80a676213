extension Chain {
  /// What a request asks of a place in the list at every step.
  struct Place: Sendable {
    /// The hooks to call.
    let toCall: HookSet
    /// Whether it is known which hooks are defaults.
    let isKnown: Bool
    /// Whether the behavior adds credentials, and so has no part in some requests.
    let hasCredential: Bool

    init(_ entry: Pipeline.Entry) {
      let knowledge = LearnedHooks.shared.knowledge(of: entry.behavior)
      toCall = entry.runsHooksOnly ? knowledge.toCall.subtracting(.intercept) : knowledge.toCall
      isKnown = knowledge.known == .all
      hasCredential = entry.credential != nil
    }
  }
}

extension Pipeline.Entry {
  /// The behavior, which notes the hooks that are called for the first time.
  func behavior(_ place: Chain.Place) -> any RequestBehavior {
    place.isKnown ? behavior : LearningBehavior(behavior: behavior)
  }
}

extension Chain {
  /// The places that a prerequisite request has too.
  ///
  /// Left out are those that add credentials, share or keep responses, and those where a behavior may hold something
  /// while it waits.
  private static let prerequisiteOrders: Set<BehaviorOrder> = [
    .observation, .deadline, .request, .retry, .hedging, .redirects, .circuitBreaker, .rateLimit, .verification, .last,
  ]

  /// Returns a client whose behaviors cannot wait for a caller that stands at an index of this list.
  ///
  /// The caller is within the `intercept` of everything further out, which may hold a permit; there the other hooks of
  /// a behavior run without it, unless the behavior says that it holds nothing.
  func prerequisiteClient(
    for caller: Int, omitting types: [any RequestBehavior.Type], parent: Call
  ) -> NetworkClient {
    let omitted = Set(types.map { ObjectIdentifier($0) })
    var configuration = configuration
    configuration.behaviors = pipeline.entries.enumerated().compactMap { index, entry in
      guard entry.source == .configuration, Chain.prerequisiteOrders.contains(entry.order.standard) else { return nil }
      guard !omitted.contains(ObjectIdentifier(type(of: entry.behavior))) else { return nil }
      let isAroundCaller = index <= caller && !entry.behavior.runsForPrerequisites
      return BehaviorGroup(entry.behavior, order: entry.order, hooksOnly: entry.runsHooksOnly || isAroundCaller)
    }
    configuration.options.withdrawRequiredAuthentication()
    return NetworkClient(
      configuration: configuration, transport: transport, parent: NetworkClient.Parent(parent), waits: waits)
  }
}
