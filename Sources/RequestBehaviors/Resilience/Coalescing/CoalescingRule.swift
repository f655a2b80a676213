/// Whether a request shares a response with others in flight.
public struct CoalescingRule: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case automatic
    case never
    case named(String)
  }

  let kind: Kind

  /// Shares with identical requests.
  public static let automatic = CoalescingRule(kind: .automatic)
  /// Shares with no request.
  public static let never = CoalescingRule(kind: .never)
  /// Shares with requests of the same name, client, owners and credentials, whatever else differs.
  ///
  /// It holds for safe methods (RFC 9110 §9.2.1). A POST is never shared, because it may take effect each time.
  public static func named(_ name: String) -> CoalescingRule { CoalescingRule(kind: .named(name)) }
}
