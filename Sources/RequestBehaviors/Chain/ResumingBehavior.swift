/// A behavior that continues where a response broke off, so that a further attempt asks only for the rest.
///
/// Retries that continue a response put no second load on the server: they do not count in a ``RetryBudget``. Downloads
/// are made of one.
public protocol ResumingBehavior: RequestBehavior {}
