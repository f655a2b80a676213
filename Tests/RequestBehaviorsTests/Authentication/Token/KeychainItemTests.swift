import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct KeychainItemTests {
  private let item = KeychainItem(service: "com.example.shop", account: "token", accessGroup: "TEAM.shared")
  private let keychain = FakeKeychain()
  private let secret = Data("canary".utf8)

  @Test func `an item is found by service, account and access group, and is not synchronized`() {
    #expect(
      item.identity == [
        .itemClass: .genericPassword, .service: .text("com.example.shop"), .account: .text("token"),
        .accessGroup: .text("TEAM.shared"), .isSynchronizable: .flag(false), .usesDataProtectionKeychain: .flag(true),
      ])
    #expect(item.reading == item.identity.merging([.returnsData: .flag(true), .matchLimit: .one]) { $1 })
  }

  @Test func `by default an item can be read after the first unlock, on this device only`() {
    #expect(item.adding(secret)[.protection] == .protection(.afterFirstUnlockThisDeviceOnly))
    #expect(item.adding(secret)[.data] == .data(secret))
    #expect(item.changes(to: secret)[.protection] == .protection(.afterFirstUnlockThisDeviceOnly))
  }

  @Test func `for the login keychain neither a protection nor an access group is given`() {
    var item = item
    item.usesLoginKeychain = true
    #expect(Set(item.adding(secret).keys) == [.itemClass, .service, .account, .isSynchronizable, .data])
  }

  @Test func `an item that was written can be read, changed and removed`() throws {
    #expect(try item.read(from: keychain) == nil)
    try item.write(Data("first".utf8), to: keychain)
    try item.write(secret, to: keychain)
    #expect(try item.read(from: keychain) == secret)
    #expect(keychain.calls == ["copy", "update", "add", "update", "copy"])
    try item.remove(from: keychain)
    try item.remove(from: keychain)
    #expect(try item.read(from: keychain) == nil)
  }

  @Test func `an item that is stored with another protection is the same item`() throws {
    var later = item
    later.protection = .whenUnlocked
    try item.write(Data("first".utf8), to: keychain)
    try later.write(secret, to: keychain)
    #expect(keychain.count == 1)
    #expect(keychain.protection == .protection(.whenUnlocked))
    #expect(try item.read(from: keychain) == secret)
  }

  @Test func `an item that another process adds at the same moment is changed`() throws {
    keychain.answer("update", with: KeychainStatus.itemNotFound)
    keychain.answer("add", with: KeychainStatus.duplicateItem)
    try item.write(secret, to: keychain)
    #expect(keychain.calls == ["update", "add", "update"])
  }

  @Test func `a locked device is an error that is not a missing token`() throws {
    try item.write(secret, to: keychain)
    keychain.answer("copy", with: KeychainStatus.interactionNotAllowed)
    let error = try #require(throws: NetworkError.self) { try item.read(from: keychain) }
    #expect(error.code == .tokenStoreFailed)
    #expect(
      error.message
        == "could not read the token \"token\" of \"com.example.shop\" in the keychain: OSStatus -25308, "
        + "errSecInteractionNotAllowed: the device is locked, or was not unlocked since it was started; send again when "
        + "it is unlocked; no user was signed out")
    #expect((error.underlyingError as? NSError)?.code == -25_308)
    #expect((error.underlyingError as? NSError)?.domain == "NSOSStatusErrorDomain")
  }

  @Test(arguments: [
    ("add", KeychainStatus.missingEntitlement, "Keychain Sharing"), ("update", -25_293, "errSecAuthFailed"),
    ("update", -67_585, "the system's words for -67585"), ("add", -50, "errSecParam"),
  ])
  func `the error of a write has the status and the remedy, and no secret`(
    call: String, status: Int32, words: String
  ) throws {
    keychain.answer(call, with: status)
    let error = try #require(throws: NetworkError.self) { try item.write(secret, to: keychain) }
    #expect(error.code == .tokenStoreFailed)
    #expect(error.message.contains("OSStatus \(status)"))
    #expect(error.message.contains(words))
    #expect(!"\(error)".contains("canary"))
  }

  @Test func `a failed removal is an error`() throws {
    keychain.answer("delete", with: KeychainStatus.interactionNotAllowed)
    let error = try #require(throws: NetworkError.self) { try item.remove(from: keychain) }
    #expect(error.message.contains("could not remove"))
  }

  #if canImport(ObjectiveC)
    @Test func `stores of one item are one store`() {
      let store = KeychainTokenStore(service: "a", account: "b")
      #expect(store.location == KeychainTokenStore(service: "a", account: "b").location)
      #expect(store.location != KeychainTokenStore(service: "a", account: "b", accessGroup: "c").location)
      #expect(store.location != KeychainTokenStore(service: "a", account: "c").location)
    }
  #endif
}

/// A keychain of one item.
private final class FakeKeychain: Keychain {
  private let state = Box((item: KeychainQuery?.none, calls: [String](), answers: [String: [Int32]]()))

  var calls: [String] { state.value.calls }
  var count: Int { state.value.item == nil ? 0 : 1 }
  var protection: KeychainItem.Value? { state.value.item?[.protection] }

  /// Has the next call of a function return a status.
  func answer(_ call: String, with status: Int32) { state.update { $0.answers[call, default: []].append(status) } }

  private func run(_ call: String, _ work: (inout KeychainQuery?) -> Int32) -> Int32 {
    state.update { state in
      state.calls.append(call)
      if state.answers[call]?.isEmpty == false, let status = state.answers[call]?.removeFirst() {
        // The item of the other process.
        if status == KeychainStatus.duplicateItem { state.item = [:] }
        return status
      }
      return work(&state.item)
    }
  }

  func copyData(_ query: KeychainQuery) -> (status: Int32, data: Data?) {
    var data: Data?
    let status = run("copy") { item in
      guard case .data(let found) = item?[.data] else { return KeychainStatus.itemNotFound }
      data = found
      return KeychainStatus.success
    }
    return (status, data)
  }

  func update(_ query: KeychainQuery, with changes: KeychainQuery) -> Int32 {
    run("update") { item in
      guard let found = item else { return KeychainStatus.itemNotFound }
      item = found.merging(changes) { $1 }
      return KeychainStatus.success
    }
  }

  func add(_ query: KeychainQuery) -> Int32 {
    run("add") { item in
      guard item == nil else { return KeychainStatus.duplicateItem }
      item = query
      return KeychainStatus.success
    }
  }

  func delete(_ query: KeychainQuery) -> Int32 {
    run("delete") { item in
      defer { item = nil }
      return item == nil ? KeychainStatus.itemNotFound : KeychainStatus.success
    }
  }

  func text(for status: Int32) -> String? { "the system's words for \(status)" }
}
