package import Foundation

/// The item that says which process refreshes the token of another item: values in, queries out.
///
/// The keychain adds an item only if it does not exist, so one process gets the lease. The item's label names its
/// owner: a lease that is over is removed only if that owner still has it.
package struct KeychainLease: Sendable, Equatable {
  private let item: KeychainItem
  private let owner: String

  /// Creates a lease of an item.
  package init(of item: KeychainItem, owner: String = UUID().uuidString) {
    var lease = item
    lease.account += " refresh"
    self.item = lease
    self.owner = owner
  }

  private func query(_ owner: String) -> KeychainQuery { item.identity.merging([.label: .text(owner)]) { $1 } }

  private func content(from now: TimeInterval) -> Data { Data("\(owner) \(now + RefreshLease.duration)".utf8) }

  /// Takes it, unless another process has it.
  ///
  /// - Returns: Whether it did.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  package func take(from keychain: any Keychain, at now: TimeInterval) throws -> Bool {
    let adding = item.adding(content(from: now)).merging([.label: .text(owner)]) { $1 }
    // The item exists if another process has the lease; one that is over is removed, and this process competes for it.
    var status = keychain.add(adding)
    if status == KeychainStatus.duplicateItem {
      guard let held = try held(in: keychain), RefreshLease.isOver(held.until, at: now) else { return false }
      _ = keychain.delete(held.owner.map(query) ?? item.identity)
      status = keychain.add(adding)
    }
    if status == KeychainStatus.duplicateItem { return false }
    guard status == KeychainStatus.success else { throw item.failure("take the right to refresh", status, keychain) }
    return true
  }

  /// Extends it, unless another process has taken it.
  package func renew(in keychain: any Keychain, at now: TimeInterval) {
    _ = keychain.update(query(owner), with: item.changes(to: content(from: now)))
  }

  /// Gives it back.
  package func end(in keychain: any Keychain) { _ = keychain.delete(query(owner)) }

  /// Whether it is still held.
  package func isHeld(in keychain: any Keychain) throws -> Bool { try held(in: keychain)?.owner == owner }

  /// The owner of the lease and its end; no owner, and an end that is over, if the item holds other data.
  private func held(in keychain: any Keychain) throws -> (owner: String?, until: TimeInterval)? {
    guard let data = try item.read(from: keychain) else { return nil }
    let parts = String(decoding: data, as: UTF8.self).split(separator: " ")
    guard parts.count == 2, let until = TimeInterval(parts[1]) else { return (nil, 0) }
    return (String(parts[0]), until)
  }
}
