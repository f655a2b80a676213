/// The treatment of a request while the device is offline.
public enum OfflineRule: Sendable, Hashable {
  /// It fails at once.
  case refuse
  /// It waits until there is a network.
  case wait
}
