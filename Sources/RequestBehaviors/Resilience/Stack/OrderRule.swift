/// A rule that one behavior belongs further in than another, and the consequence otherwise.
///
/// It is a line of "The standard order".
///
/// A list contradicts a rule only if ``RequestBehavior/ordered(_:)`` moved a behavior. The rules compare pairs: two
/// behaviors that do not affect each other may have any order.
struct OrderRule {
  let inner: any RequestBehavior.Type
  let outer: [any RequestBehavior.Type]
  let consequence: String

  init(_ inner: any RequestBehavior.Type, inside outer: (any RequestBehavior.Type)..., consequence: String) {
    self.init(inner, insideAll: outer, consequence: consequence)
  }

  init(_ inner: any RequestBehavior.Type, insideAll outer: [any RequestBehavior.Type], consequence: String) {
    self.inner = inner
    self.outer = outer
    self.consequence = consequence
  }

  static let all: [OrderRule] = [
    OrderRule(
      CoalescingBehavior.self, inside: DeadlineBehavior.self,
      consequence: "so the deadline of the first caller ends the others' calls too"),
    OrderRule(
      RetryBehavior.self, inside: DeadlineBehavior.self,
      consequence: "so the deadline begins with the first attempt, and leaves out what is further out"),
    OrderRule(
      RetryBehavior.self, inside: CoalescingBehavior.self, consequence: "so each attempt looks for others to share with"
    ),
    OrderRule(
      RetryBehavior.self, inside: GateBehavior.self, OfflineBehavior.self,
      consequence: "so each attempt waits and is refused for itself"),
    OrderRule(
      RetryBehavior.self, inside: BatchBehavior.self, consequence: "so each attempt waits for others to be merged with"),
    OrderRule(
      HedgingBehavior.self, inside: RetryBehavior.self,
      consequence: "so a second call begins where a second attempt is enough"),
    OrderRule(
      TokenAuthBehavior.self, inside: RetryBehavior.self, HedgingBehavior.self,
      consequence: "so a further attempt carries the old token"),
    OrderRule(
      TokenAuthBehavior.self, inside: RedirectsBehavior.self,
      consequence: "so a redirect is not authenticated for its own origin"),
    OrderRule(
      NonceVerificationBehavior.self, inside: RetryBehavior.self, HedgingBehavior.self, RedirectsBehavior.self,
      consequence: "so a further send carries the old nonce"),
    OrderRule(
      RateLimitBehavior.self, inside: TokenAuthBehavior.self,
      consequence: "so a request that waits for a token has taken a permit"),
    OrderRule(
      ConcurrencyLimitBehavior.self, inside: TokenAuthBehavior.self,
      consequence: "so a request that waits for a token holds a permit"),
    OrderRule(
      RateLimitBehavior.self, inside: RetryBehavior.self, HedgingBehavior.self,
      consequence: "so further attempts are not limited"),
    OrderRule(
      ConcurrencyLimitBehavior.self, inside: RetryBehavior.self,
      consequence: "so a request holds a permit while it waits for its next attempt"),
    OrderRule(
      ConcurrencyLimitBehavior.self, inside: RateLimitBehavior.self,
      consequence: "so a request holds a permit while it waits for the rate"),
    OrderRule(
      CircuitBreakerBehavior.self, inside: RetryBehavior.self, consequence: "so it judges calls, not attempts"),
    OrderRule(
      CircuitBreakerBehavior.self, inside: RateLimitBehavior.self, consequence: "so a probe waits for the rate"),
    OrderRule(
      CircuitBreakerBehavior.self, inside: ConcurrencyLimitBehavior.self, consequence: "so a probe waits for a permit"),
  ]
}

extension Pipeline {
  /// The behaviors that are on the wrong side of another one in the list, with one sentence for each pair.
  var misplacements: [String] { OrderRule.all.flatMap { misplacements(by: $0) } }

  /// Returns a warning for each behavior of a type that is further out than one that it belongs inside of.
  ///
  /// A behavior with an order rule of its own returns them from ``RequestBehavior/warnings(in:)``:
  ///
  /// ```swift
  /// func warnings(in pipeline: Pipeline) -> [String] {
  ///   pipeline.misplacements(
  ///     of: StampBehavior.self, inside: RetryBehavior.self,
  ///     consequence: "so a further attempt carries the old stamp")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - inner: The type of the behavior.
  ///   - outer: The types of the behaviors that belong around it.
  ///   - consequence: The end of the sentence, beginning with "so".
  /// - Returns: One sentence for each pair that is on the wrong side of each other.
  public func misplacements(
    of inner: any RequestBehavior.Type, inside outer: any RequestBehavior.Type..., consequence: String
  ) -> [String] {
    misplacements(by: OrderRule(inner, insideAll: outer, consequence: consequence))
  }

  private func misplacements(by rule: OrderRule) -> [String] {
    let places = entries.enumerated().filter { isInUse($0.element.behavior) }
    let inner = places.filter { type(of: $0.element.behavior) == rule.inner }
    let outer = places.filter { place in rule.outer.contains { $0 == type(of: place.element.behavior) } }
    return inner.flatMap { inner in
      outer.filter { inner.offset < $0.offset }.map { outer in
        "\(inner.element.name) is further out than \(outer.element.name), \(rule.consequence); list both without "
          + "ordered(_:)"
      }
    }
  }

  /// Whether a behavior has any effect on the request, according to the options.
  private func isInUse(_ behavior: any RequestBehavior) -> Bool {
    switch behavior {
    case is DeadlineBehavior: deadline != nil
    case let retry as RetryBehavior: (options.retryPolicy ?? retry.policy).maximumRetries > 0
    case let hedging as HedgingBehavior: (options.explicit(HedgingOption.self) ?? hedging.policy) != nil
    case is RedirectsBehavior: options.redirects.limit > 0
    default: true
    }
  }
}
