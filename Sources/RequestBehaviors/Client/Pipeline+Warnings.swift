extension Pipeline {
  /// What in the list contradicts something else in it, such as a timeout that is longer than the deadline.
  ///
  /// Nothing fails because of it. A test may expect that there is nothing:
  ///
  /// ```swift
  /// let pipeline = try client.pipeline(for: Request<User>.get("me"))
  /// #expect(pipeline.warnings.isEmpty)
  /// ```
  ///
  /// Each is a sentence that names the behaviors, the values and the remedy. ``RequestBehavior/warnings(in:)`` makes
  /// them; an option that no behavior of the list obeys is one too.
  public var warnings: [String] { entries.flatMap { $0.behavior.warnings(in: self) } + disobeyedOptions }

  /// Returns the behavior of a type; the outermost of several, `nil` if none is listed.
  public func behavior<Behavior: RequestBehavior>(_ type: Behavior.Type) -> Behavior? {
    for entry in entries { if let behavior = entry.behavior as? Behavior { return behavior } }
    return nil
  }

  /// Options that are set though nothing obeys them: whoever set one relies on it.
  private var disobeyedOptions: [String] {
    let known: [(isSet: Bool, option: String, type: any RequestBehavior.Type)] = [
      (options.deadline != nil, "deadline", DeadlineBehavior.self),
      (options.retryPolicy.map { $0.maximumRetries > 0 } ?? false, "retryPolicy", RetryBehavior.self),
      (options.idempotencyKey != nil, "idempotencyKey", RetryBehavior.self),
      (options.hedging != nil, "hedging", HedgingBehavior.self),
    ]
    return known.filter { known in
      known.isSet && !entries.contains { ObjectIdentifier(type(of: $0.behavior)) == ObjectIdentifier(known.type) }
    }.map { "the option \($0.option) is set, but nothing obeys it; list a \($0.type)" }
  }
}
