#if canImport(ObjectiveC)
  import Foundation
  import Security

  /// Keeps a token in the keychain.
  ///
  /// ```swift
  /// let store = KeychainTokenStore(
  ///   service: "com.example.shop",
  ///   accessGroup: "ABCDE12345.com.example.shared")
  /// let session = TokenSession(
  ///   source: .refreshToken(endpoint), store: store)
  /// ```
  ///
  /// The item is a generic password. It can be read from the first unlock after a start of the device, stays on this
  /// device, and is not synchronized. An app and its extensions share it if they name one access group, which both must
  /// be entitled to. A locked device is an error of code ``NetworkError/Code-swift.struct/tokenStoreFailed``, not a
  /// missing token: it does not sign the session out.
  public final class KeychainTokenStore: TokenStore {
    private let item: KeychainItem
    /// The lease under which this store refreshes.
    private let held = Locked<KeychainLease?>(nil)
    // The keychain's functions block, and the threads of Swift concurrency must not.
    private let queue = BlockingQueue(label: "KeychainTokenStore")

    /// The item: stores of one item are one store.
    public var location: String? {
      [item.service, item.account, item.accessGroup ?? "", item.usesLoginKeychain ? "login" : ""]
        .map { "\($0.utf8.count):\($0)" }.joined()
    }

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - service: The owner of the token, such as the app's bundle identifier.
    ///   - account: The name of the token within the service; `token` by default.
    ///   - accessGroup: The access group of the item, with its prefix; by default the first one of the program, which
    ///     its extensions do not share.
    ///   - protection: The time when the item can be read; by default from the first unlock on, on this device only.
    ///   - usesLoginKeychain: Whether the login keychain of macOS is used instead of the data protection keychain, for
    ///     programs that are not signed with entitlements; it has neither access groups nor protections. False by
    ///     default; must be false on other platforms.
    public init(
      service: String, account: String = "token", accessGroup: String? = nil,
      protection: KeychainProtection = .afterFirstUnlockThisDeviceOnly, usesLoginKeychain: Bool = false
    ) {
      item = KeychainItem(
        service: service, account: account, accessGroup: accessGroup, protection: protection,
        usesLoginKeychain: usesLoginKeychain)
    }

    /// Returns the token; `nil` if the keychain has none.
    ///
    /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``, which names the status,
    ///   also while the device is locked.
    public func load() async throws -> AccessToken? {
      let held = held
      let lease = held.withLock { $0 }
      return try await onQueue { item in
        let keychain = SystemKeychain()
        // Another process may be refreshing the token now, so this one must not. A lease that was given back meanwhile
        // belongs to a refresh that has ended.
        if let lease, try !lease.isHeld(in: keychain), held.withLock({ $0 == lease }) {
          throw NetworkError.tokenStoreFailed("another process refreshes \(item.name), as this one was stopped")
        }
        return try item.read(from: keychain).map { try StoredToken.decode($0, from: item.name) }
      }
    }

    /// Replaces the token, or removes it.
    ///
    /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``, which names the status,
    ///   or for a token that could not be read again, because it is empty or has control characters.
    public func save(_ token: AccessToken?) async throws {
      let data = try token.map(StoredToken.encode)
      try await onQueue { item in
        if let data { try item.write(data, to: SystemKeychain()) } else { try item.remove(from: SystemKeychain()) }
      }
    }

    /// Replaces the token if it is the one that is expected; another process can write in between.
    ///
    /// It does not ask who refreshes the token: what the item holds tells whether another process has changed it.
    ///
    /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``, which names the status,
    ///   or for a token that could not be read again, because it is empty or has control characters.
    public func replace(_ old: AccessToken?, with new: AccessToken?) async throws -> Bool {
      let data = try new.map(StoredToken.encode)
      return try await onQueue { item in
        let keychain = SystemKeychain()
        let found = try item.read(from: keychain).map { try StoredToken.decode($0, from: item.name) }
        guard AccessToken.isSame(found, old) else { return false }
        if let data { try item.write(data, to: keychain) } else { try item.remove(from: keychain) }
        return true
      }
    }

    /// Runs the work while no other process refreshes the token of this item.
    ///
    /// A second item names the process for 30 seconds; the process renews it while it works.
    ///
    /// - Throws: `CancellationError`, or ``NetworkError`` of code
    ///   ``NetworkError/Code-swift.struct/tokenStoreFailed``.
    public func withRefreshLock(_ work: RefreshWork) async throws {
      let lease = KeychainLease(of: item)
      // The lease is kept for the time of the work, so that a read finds out that it was lost.
      try await RefreshLease(
        clock: .system,
        take: { now in try await self.onQueue { _ in try lease.take(from: SystemKeychain(), at: now) } },
        renew: { now in try await self.onQueue { _ in lease.renew(in: SystemKeychain(), at: now) } },
        end: { try await self.onQueue { _ in lease.end(in: SystemKeychain()) } }
      ).run {
        held.withLock { $0 = lease }
        await work()
        held.withLock { $0 = nil }
      }
    }

    private func onQueue<Value: Sendable>(
      _ work: @escaping @Sendable (KeychainItem) throws -> Value
    ) async throws -> Value {
      try await withCheckedThrowingContinuation { [item] continuation in
        queue.async { continuation.resume(with: Result { try work(item) }) }
      }
    }
  }

  /// The keychain of the Security framework.
  private struct SystemKeychain: Keychain {
    func copyData(_ query: KeychainQuery) -> (status: Int32, data: Data?) {
      var result: CFTypeRef?
      let status = SecItemCopyMatching(dictionary(query), &result)
      return (status, result as? Data)
    }

    func update(_ query: KeychainQuery, with changes: KeychainQuery) -> Int32 {
      SecItemUpdate(dictionary(query), dictionary(changes))
    }

    func add(_ query: KeychainQuery) -> Int32 { SecItemAdd(dictionary(query), nil) }

    func delete(_ query: KeychainQuery) -> Int32 { SecItemDelete(dictionary(query)) }

    func text(for status: Int32) -> String? { SecCopyErrorMessageString(status, nil).map { $0 as String } }

    private func dictionary(_ query: KeychainQuery) -> CFDictionary {
      let pairs = query.map { (name(of: $0.key) as String, object(for: $0.value)) }
      return NSDictionary(dictionary: Dictionary(pairs) { $1 }) as CFDictionary
    }

    private func name(of attribute: KeychainItem.Attribute) -> CFString {
      switch attribute {
      case .itemClass: kSecClass
      case .service: kSecAttrService
      case .account: kSecAttrAccount
      case .accessGroup: kSecAttrAccessGroup
      case .isSynchronizable: kSecAttrSynchronizable
      case .usesDataProtectionKeychain: kSecUseDataProtectionKeychain
      case .protection: kSecAttrAccessible
      case .data: kSecValueData
      case .returnsData: kSecReturnData
      case .matchLimit: kSecMatchLimit
      case .label: kSecAttrLabel
      }
    }

    private func object(for value: KeychainItem.Value) -> Any {
      switch value {
      case .text(let text): text
      case .flag(let flag): flag
      case .data(let data): data
      case .protection(let protection): constant(for: protection)
      case .genericPassword: kSecClassGenericPassword
      case .one: kSecMatchLimitOne
      }
    }

    private func constant(for protection: KeychainProtection) -> CFString {
      switch protection {
      case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
      case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
      case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
      case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
      case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
      }
    }
  }
#endif

/// The times when an item of the keychain can be read, and whether it moves to another device.
///
/// These are the values of `kSecAttrAccessible` (Apple: "Restricting keychain item accessibility").
public enum KeychainProtection: Sendable, Hashable, CaseIterable {
  /// From the first unlock after a start of the device on; in no other device's keychain.
  ///
  /// Apps that work in the background need this or the next one.
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
