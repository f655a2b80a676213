import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

/// The item that says which process refreshes the token of another item.
@Suite(.limited) struct KeychainLeaseTests {
  private let item = KeychainItem(service: "shop", account: "token")
  private let keychain = LabelledKeychain()

  private func lease(_ owner: String) -> KeychainLease { KeychainLease(of: item, owner: owner) }

  @Test func `one owner at a time has the lease, until it is released`() throws {
    #expect(try lease("a").take(from: keychain, at: 0))
    #expect(try lease("a").isHeld(in: keychain))
    #expect(try !lease("b").take(from: keychain, at: 29.9))
    #expect(try !lease("b").isHeld(in: keychain))
    lease("b").end(in: keychain)
    #expect(try lease("a").isHeld(in: keychain))
    lease("a").end(in: keychain)
    #expect(keychain.items.value.isEmpty)
    #expect(try lease("b").take(from: keychain, at: 30))
  }

  @Test func `the lease ends after 30 seconds unless it is renewed`() throws {
    #expect(try lease("a").take(from: keychain, at: 0))
    lease("a").renew(in: keychain, at: 10)
    #expect(try !lease("b").take(from: keychain, at: 39.9))
    #expect(try lease("b").take(from: keychain, at: 40))
    lease("a").renew(in: keychain, at: 41)
    lease("a").end(in: keychain)
    #expect(try lease("b").isHeld(in: keychain))
    #expect(try !lease("a").isHeld(in: keychain))
  }

  @Test func `a lease whose end is too far away is ignored`() throws {
    #expect(try lease("a").take(from: keychain, at: 1_000))
    #expect(try !lease("b").take(from: keychain, at: 970))
    #expect(try lease("b").take(from: keychain, at: 969))
  }

  @Test func `an invalid value in place of the lease is replaced`() throws {
    var other = item
    other.account = "token refresh"
    try other.write(Data("garbage".utf8), to: keychain)
    #expect(try lease("a").take(from: keychain, at: 0))
    #expect(try lease("a").isHeld(in: keychain))
  }

  @Test func `the lease is stored beside the token, and another token has another lease`() throws {
    try item.write(Data("secret".utf8), to: keychain)
    #expect(try lease("a").take(from: keychain, at: 0))
    #expect(try item.read(from: keychain) == Data("secret".utf8))
    let other = KeychainLease(of: KeychainItem(service: "shop", account: "other"), owner: "b")
    #expect(try other.take(from: keychain, at: 0))
  }

  @Test func `a keychain that cannot be used is an error`() throws {
    keychain.status.value = KeychainStatus.interactionNotAllowed
    let error = try #require(throws: NetworkError.self) { try lease("a").take(from: keychain, at: 0) }
    #expect(error.code == .tokenStoreFailed)
    #expect(error.message.contains("-25308"))
  }
}

/// A keychain whose items are found by all that a query names.
private final class LabelledKeychain: Keychain {
  let items = Box<[KeychainQuery]>([])
  let status = Box<Int32?>(nil)

  private static let identity: [KeychainItem.Attribute] = [.service, .account]

  private func matches(_ item: KeychainQuery, _ query: KeychainQuery) -> Bool {
    (Self.identity + [.label]).allSatisfy { query[$0] == nil || query[$0] == item[$0] }
  }

  func copyData(_ query: KeychainQuery) -> (status: Int32, data: Data?) {
    if let status = status.value { return (status, nil) }
    guard let item = items.value.first(where: { matches($0, query) }), case .data(let data)? = item[.data] else {
      return (KeychainStatus.itemNotFound, nil)
    }
    return (KeychainStatus.success, data)
  }

  func update(_ query: KeychainQuery, with changes: KeychainQuery) -> Int32 {
    items.update { items in
      guard let index = items.firstIndex(where: { matches($0, query) }) else { return KeychainStatus.itemNotFound }
      items[index].merge(changes) { $1 }
      return KeychainStatus.success
    }
  }

  func add(_ query: KeychainQuery) -> Int32 {
    if let status = status.value { return status }
    return items.update { items in
      let isThere = items.contains { item in Self.identity.allSatisfy { item[$0] == query[$0] } }
      if isThere { return KeychainStatus.duplicateItem }
      items.append(query)
      return KeychainStatus.success
    }
  }

  func delete(_ query: KeychainQuery) -> Int32 {
    items.update { items in
      guard let index = items.firstIndex(where: { matches($0, query) }) else { return KeychainStatus.itemNotFound }
      items.remove(at: index)
      return KeychainStatus.success
    }
  }

  func text(for status: Int32) -> String? { nil }
}
