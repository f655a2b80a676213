/// The typed settings of a request; see ``RequestOption``.
public struct RequestOptions: Sendable {
  private struct Entry: Sendable {
    let option: ObjectIdentifier
    let isPortable: Bool
    let affectsResponse: Bool
    let setting: any AnySetting
  }

  private final class Setting<Option: RequestOption>: AnySetting {
    let value: Option.Value
    init(_ value: Option.Value) { self.value = value }

    var identity: SettingIdentity {
      (value as? any Hashable).map { .value(AnyHashable($0)) } ?? .object(self)
    }

    // The full name of a private type holds its address.
    var name: String { "\(String(reflecting: Option.self).prefix { $0 != "." }).\(Option.self)" }

    func warning(in pipeline: Pipeline) -> String? { Option.warning(for: value, in: pipeline) }
  }

  // A list rather than a dictionary: few options are set, and each is read several times per request.
  private var entries: [Entry] = []

  /// Creates options without any set value.
  public init() {}

  /// The value of an option: the set value, else the option's default.
  public subscript<Option: RequestOption>(option: Option.Type) -> Option.Value {
    get { explicit(option) ?? Option.defaultValue }
    set {
      set(
        Entry(
          option: ObjectIdentifier(option), isPortable: Option.isPortable, affectsResponse: Option.affectsResponse,
          setting: Setting<Option>(newValue)))
    }
  }

  /// Returns the set value of an option; `nil` if it is not set.
  ///
  /// A behavior reads its setting as `request.options.explicit(MyOption.self) ?? myDefault`.
  public func explicit<Option: RequestOption>(_ option: Option.Type) -> Option.Value? {
    guard let index = index(of: ObjectIdentifier(option)) else { return nil }
    return (entries[index].setting as? Setting<Option>)?.value
  }

  /// Removes the set value of an option.
  public mutating func reset<Option: RequestOption>(_ option: Option.Type) {
    if let index = index(of: ObjectIdentifier(option)) { entries.remove(at: index) }
  }

  /// Returns these options, overridden by those that another list sets.
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

  /// The set values of the options that affect a response, for comparison: ``RequestOption/affectsResponse``.
  ///
  /// A behavior that lets requests share something puts it into its key.
  public var identity: Identity {
    var identity = Identity()
    for entry in entries where entry.affectsResponse { identity.settings[entry.option] = entry.setting.identity }
    return identity
  }

  /// Values of options that can be compared; a value that is not `Hashable` equals only itself.
  public struct Identity: Hashable, Sendable {
    fileprivate var settings: [ObjectIdentifier: SettingIdentity] = [:]
  }

  /// The types of the options that are set, each as the names of its module and of the type.
  package var setNames: [String] { entries.map(\.setting.name) }

  /// Returns the warnings about the set options.
  func warnings(in pipeline: Pipeline) -> [String] { entries.compactMap { $0.setting.warning(in: pipeline) } }

  private func index(of option: ObjectIdentifier) -> Int? { entries.firstIndex { $0.option == option } }

  private mutating func set(_ entry: Entry) {
    if let index = index(of: entry.option) { entries[index] = entry } else { entries.append(entry) }
  }
}

private protocol AnySetting: AnyObject, Sendable {
  var identity: SettingIdentity { get }
  var name: String { get }
  func warning(in pipeline: Pipeline) -> String?
}

/// The value of an option, for comparison; a value that is not `Hashable` equals only itself.
private enum SettingIdentity: Hashable, @unchecked Sendable {
  // Unchecked because the compiler cannot see that the value is Sendable, as every option's value is.
  case value(AnyHashable)
  case object(AnyObject)

  static func == (left: SettingIdentity, right: SettingIdentity) -> Bool {
    switch (left, right) {
    case (.value(let left), .value(let right)): left == right
    case (.object(let left), .object(let right)): left === right
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .value(let value): hasher.combine(value)
    case .object(let object): hasher.combine(ObjectIdentifier(object))
    }
  }
}
