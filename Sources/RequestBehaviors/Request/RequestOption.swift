/// A typed setting of a request that a behavior or the client reads.
///
/// ```swift
/// enum Priority: RequestOption { static let defaultValue = 0 }
///
/// extension RequestOptions {
///   var priority: Int {
///     get { self[Priority.self] }
///     set { self[Priority.self] = newValue }
///   }
/// }
/// ```
///
/// A request sets it like those of the library:
///
/// ```swift
/// try await client.send(.get("feed").with(\.priority, 1))
/// ```
///
/// A value set on the request wins over one set on the configuration's options, that over what a behavior was created
/// with, that over ``defaultValue``.
public protocol RequestOption {
  /// The type of the setting.
  associatedtype Value: Sendable

  /// The value where nobody sets one.
  static var defaultValue: Value { get }

  /// Whether a value set on a request stays when a redirect leads to another origin; by default it does not.
  static var isPortable: Bool { get }
}

extension RequestOption {
  /// By default a value does not follow a request to another origin.
  public static var isPortable: Bool { false }
}

/// The typed settings of a request; see ``RequestOption``.
public struct RequestOptions: Sendable {
  private struct Entry: Sendable {
    let option: ObjectIdentifier
    let isPortable: Bool
    let setting: any AnyObject & Sendable
  }

  private final class Setting<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  // A list rather than a dictionary: few are set, and each is read several times a request.
  private var entries: [Entry] = []

  /// Creates options of which none is set.
  public init() {}

  /// The value of an option: what was set, else the option's default.
  public subscript<Option: RequestOption>(option: Option.Type) -> Option.Value {
    get { explicit(option) ?? Option.defaultValue }
    set { set(Entry(option: ObjectIdentifier(option), isPortable: Option.isPortable, setting: Setting(newValue))) }
  }

  /// The value that was set for an option; `nil` if none was.
  ///
  /// A behavior reads its setting as `request.options.explicit(MyOption.self) ?? myDefault`.
  public func explicit<Option: RequestOption>(_ option: Option.Type) -> Option.Value? {
    guard let index = index(of: ObjectIdentifier(option)) else { return nil }
    return (entries[index].setting as? Setting<Option.Value>)?.value
  }

  /// Removes what was set for an option.
  public mutating func reset<Option: RequestOption>(_ option: Option.Type) {
    if let index = index(of: ObjectIdentifier(option)) { entries.remove(at: index) }
  }

  /// Returns these options with those of another set on top.
  func overridden(by other: RequestOptions) -> RequestOptions {
    guard !other.entries.isEmpty else { return self }
    guard !entries.isEmpty else { return other }
    var merged = self
    for entry in other.entries { merged.set(entry) }
    return merged
  }

  /// Returns these options without those that do not follow a redirect to another origin.
  func portable() -> RequestOptions {
    var kept = self
    kept.entries.removeAll { !$0.isPortable }
    return kept
  }

  private func index(of option: ObjectIdentifier) -> Int? { entries.firstIndex { $0.option == option } }

  private mutating func set(_ entry: Entry) {
    if let index = index(of: entry.option) { entries[index] = entry } else { entries.append(entry) }
  }
}
