package import Foundation

/// The place of one secret in the keychain, and the queries for it: values in, queries out.
package struct KeychainItem: Sendable, Hashable {
  /// The name of an attribute, the key of a ``KeychainQuery``.
  package enum Attribute: Sendable, Hashable {
    case itemClass, service, account, accessGroup, isSynchronizable, usesDataProtectionKeychain, protection, data
    case returnsData, matchLimit, label
  }

  /// The value of an attribute.
  package enum Value: Sendable, Hashable {
    case text(String)
    case flag(Bool)
    case data(Data)
    case protection(KeychainProtection)
    case genericPassword, one
  }

  package var service: String
  package var account: String
  package var accessGroup: String?
  package var protection: KeychainProtection
  package var usesLoginKeychain: Bool

  /// Describes an item.
  package init(
    service: String, account: String, accessGroup: String? = nil,
    protection: KeychainProtection = .afterFirstUnlockThisDeviceOnly, usesLoginKeychain: Bool = false
  ) {
    self.service = service
    self.account = account
    self.accessGroup = accessGroup
    self.protection = protection
    self.usesLoginKeychain = usesLoginKeychain
  }
}

/// A query of the keychain: attributes by their names.
package typealias KeychainQuery = [KeychainItem.Attribute: KeychainItem.Value]

// MARK: - Queries

extension KeychainItem {
  /// The attributes that identify the item.
  ///
  /// The protection is not one of them: an item that was stored with another protection is the same item.
  package var identity: KeychainQuery {
    var query: KeychainQuery = [
      .itemClass: .genericPassword, .service: .text(service), .account: .text(account),
      .isSynchronizable: .flag(false),
    ]
    // The login keychain of macOS supports neither (Apple: TN3137).
    if !usesLoginKeychain {
      query[.usesDataProtectionKeychain] = .flag(true)
      if let accessGroup { query[.accessGroup] = .text(accessGroup) }
    }
    return query
  }

  /// The query for the secret.
  package var reading: KeychainQuery {
    identity.merging([.returnsData: .flag(true), .matchLimit: .one]) { $1 }
  }

  /// The attributes that change in an item that exists.
  package func changes(to data: Data) -> KeychainQuery {
    usesLoginKeychain ? [.data: .data(data)] : [.data: .data(data), .protection: .protection(protection)]
  }

  /// The query that adds the item.
  package func adding(_ data: Data) -> KeychainQuery { identity.merging(changes(to: data)) { $1 } }
}

// MARK: - Reading and writing

/// The four functions of a keychain, by their results of type `OSStatus`.
package protocol Keychain: Sendable {
  /// Returns the data of the item that matches.
  func copyData(_ query: KeychainQuery) -> (status: Int32, data: Data?)
  /// Changes the item that matches.
  func update(_ query: KeychainQuery, with changes: KeychainQuery) -> Int32
  /// Adds an item.
  func add(_ query: KeychainQuery) -> Int32
  /// Removes the item that matches.
  func delete(_ query: KeychainQuery) -> Int32
  /// Returns the system's own words for a status.
  func text(for status: Int32) -> String?
}

extension KeychainItem {
  /// Returns the secret; `nil` only if the keychain says that the item does not exist.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  package func read(from keychain: any Keychain) throws -> Data? {
    let (status, data) = keychain.copyData(reading)
    if status == KeychainStatus.itemNotFound { return nil }
    guard status == KeychainStatus.success, let data else { throw failure("read", status, keychain) }
    return data
  }

  /// Replaces the secret, wholly or not at all.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  package func write(_ data: Data, to keychain: any Keychain) throws {
    var status = keychain.update(identity, with: changes(to: data))
    if status == KeychainStatus.itemNotFound { status = keychain.add(adding(data)) }
    // Another process has added it in between.
    if status == KeychainStatus.duplicateItem { status = keychain.update(identity, with: changes(to: data)) }
    guard status == KeychainStatus.success else { throw failure("store", status, keychain) }
  }

  /// Removes the secret if there is one.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  package func remove(from keychain: any Keychain) throws {
    let status = keychain.delete(identity)
    guard status == KeychainStatus.success || status == KeychainStatus.itemNotFound else {
      throw failure("remove", status, keychain)
    }
  }

  /// The name of the item in errors.
  var name: String { "the token \"\(account)\" of \"\(service)\" in the keychain" }

  func failure(_ action: String, _ status: Int32, _ keychain: any Keychain) -> NetworkError {
    let explanation = KeychainStatus.explanation(of: status) ?? keychain.text(for: status) ?? "see SecBase.h"
    let error = NSError(domain: "NSOSStatusErrorDomain", code: Int(status))
    return .tokenStoreFailed("could not \(action) \(name): OSStatus \(status), \(explanation)", error)
  }
}

/// Results of the keychain's functions (Apple: "Security Framework Result Codes").
package enum KeychainStatus {
  package static let success: Int32 = 0
  package static let itemNotFound: Int32 = -25_300
  package static let duplicateItem: Int32 = -25_299
  package static let interactionNotAllowed: Int32 = -25_308
  package static let missingEntitlement: Int32 = -34_018

  /// Returns the meaning of a status and the remedy.
  static func explanation(of status: Int32) -> String? {
    // The system's own words for these statuses name no remedy.
    switch status {
    case interactionNotAllowed:
      "errSecInteractionNotAllowed: the device is locked, or was not unlocked since it was started; send again when it "
        + "is unlocked; no user was signed out"
    case missingEntitlement:
      "errSecMissingEntitlement: the program is not signed for the access group; add the capability Keychain Sharing "
        + "or App Groups, or, for a command-line tool on macOS, set usesLoginKeychain"
    case duplicateItem:
      "errSecDuplicateItem: another item of this name cannot be changed; choose another service or account"
    case -25_291: "errSecNotAvailable: there is no keychain; the program runs outside of a user's session"
    case -25_293: "errSecAuthFailed: the keychain did not accept the user's password"
    case -128: "errSecUserCanceled: the user refused access"
    case -26_275: "errSecDecode: the item cannot be decrypted; sign in again, or call signOut(), which removes it"
    case -50: "errSecParam: the keychain does not accept the service, the account or the access group"
    default: nil
    }
  }
}
