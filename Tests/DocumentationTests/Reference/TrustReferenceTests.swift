import Foundation
import RequestBehaviors
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The samples of the doc comments about trust and the platform's settings, and of those about Apple's platforms.
@Suite(.limited) struct TrustReferenceTests {
  @Test func `a transport takes the pins of a host`() throws {
    let current = "GIQx4IPpIjzBVKdvsxutK0e4oy/99OMUr6LkuYjZlKM="
    let spare = "iwi0g9NNfQeoa9wcoolA/JN6hEkODC8ZVUmbK1pvO/I="
    let keys = try [PublicKeyPin(current), PublicKeyPin(spare)]
    let trust = try TrustPolicy.system
      .pinning(["api.example.com": keys])
    let transport = URLSessionTransport(
      configuration: .init(trust: trust))
    #expect(Set(keys).count == 2)
    withExtendedLifetime(transport) {}
  }

  @Test func `a transport takes an identity`() throws {
    // The beginning of a PKCS #12: its version.
    let file = Data([0x30, 0x03, 0x02, 0x01, 0x03])
    let passphrase = "secret"
    let identity = try ClientIdentity(
      pkcs12: file, passphrase: passphrase,
      hosts: ["api.example.com"])
    let transport = URLSessionTransport(
      configuration: .init(identity: identity))
    #expect(identity.hosts == ["api.example.com"])
    withExtendedLifetime(transport) {}
  }

  @Test func `the platform's settings are changed by a closure`() {
    let configuration = URLSessionTransport.Configuration {
      $0.allowsCellularAccess = false
    }
    #expect(configuration.adjustPlatform != nil)
  }

  #if canImport(ObjectiveC)
    @Test func `an item of the keychain is a place`() {
      let endpoint = TokenEndpoint("oauth/token", clientID: "shop-ios")
      let store = KeychainTokenStore(
        service: "com.example.shop",
        accessGroup: "ABCDE12345.com.example.shared")
      let session = TokenSession(
        source: .refreshToken(endpoint), store: store)
      #expect(store.location?.contains("com.example.shop") == true)
      withExtendedLifetime(session) {}
    }

    @Test func `activities of the process hold time for a client`() throws {
      let client = NetworkClient(
        baseURL: baseURL,
        behaviors: [.backgroundTask(ProcessActivities())])
      #expect(
        try client.pipeline(for: Request<Void>.get("x")).entries.contains { $0.behavior is BackgroundTaskBehavior })
    }
  #endif
}
