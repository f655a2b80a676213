/// A behavior of the library that holds nothing while a request is within its `intercept`.
///
/// A prerequisite request, such as one for a token, may pass it although the request that needs it is within it too.
protocol ReentrantBehavior: RequestBehavior {}
