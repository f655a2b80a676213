/// A behavior of which a list holds one: by its type, and by its name where several sessions stand side by side.
///
/// The request's replaces the configuration's, and that the built-in. The same one twice in one list is an error.
public protocol UniqueBehavior: RequestBehavior {
  /// What tells two behaviors of the type apart; empty by default.
  var name: String { get }
}

extension UniqueBehavior {
  /// By default there is one behavior of the type.
  public var name: String { "" }
}
