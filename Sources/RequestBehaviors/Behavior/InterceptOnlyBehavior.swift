/// A behavior of the library that leaves every hook around a request but `intercept` to its default.
///
/// The list goes past the others: each would be an asynchronous call that does nothing. A hook that a conforming type
/// implements all the same is never called; the tests ask `implementedHooks(of:)` that there is none.
protocol InterceptOnlyBehavior: RequestBehavior {}
