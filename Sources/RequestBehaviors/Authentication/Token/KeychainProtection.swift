/// When an item of the keychain can be read, and whether it moves to another device.
///
/// These are the values of `kSecAttrAccessible` (Apple: "Restricting keychain item accessibility").
public enum KeychainProtection: Sendable, Hashable, CaseIterable {
  /// From the first unlock after a start of the device on; in no other device's keychain.
  ///
  /// Apps that work in the background need at least this.
  case afterFirstUnlockThisDeviceOnly
  /// From the first unlock after a start of the device on; moves to a new device with an encrypted backup.
  case afterFirstUnlock
  /// While the device is unlocked; in no other device's keychain.
  case whenUnlockedThisDeviceOnly
  /// While the device is unlocked; moves to a new device with an encrypted backup.
  case whenUnlocked
  /// While the device is unlocked, and only for as long as it has a passcode; in no other device's keychain.
  case whenPasscodeSetThisDeviceOnly
}
